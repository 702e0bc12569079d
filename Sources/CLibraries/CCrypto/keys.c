// Keys and signatures.
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

#include "internal.h"

static size_t coordinate_bytes(int kind) { return kind == CCRYPTO_KIND_P256 ? 32 : 48; }

// An encrypted key file would otherwise make OpenSSL ask at the terminal.
static int no_password(char *buffer, int size, int rwflag, void *data) {
    (void)buffer, (void)size, (void)rwflag, (void)data;
    return -1;
}

ccrypto_key *ccrypto_public_key_from_pem(const uint8_t *pem, size_t count, char *reason) {
    if (count > INT32_MAX) return ccrypto_explain(reason, "too long"), NULL;
    BIO *bio = BIO_new_mem_buf(pem, (int)count);
    EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    if (!key) ccrypto_explain(reason, "no public key");
    return key;
}

ccrypto_key *ccrypto_private_key_from_pem(const uint8_t *pem, size_t count, char *reason) {
    if (count > INT32_MAX) return ccrypto_explain(reason, "too long"), NULL;
    BIO *bio = BIO_new_mem_buf(pem, (int)count);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    if (!key) ccrypto_explain(reason, "no private key");
    return key;
}

static EVP_PKEY *from_parameters(const char *type, OSSL_PARAM *parameters, char *reason) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!context || EVP_PKEY_fromdata_init(context) <= 0
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) <= 0) {
        ccrypto_explain(reason, "not a key");
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

ccrypto_key *ccrypto_rsa_public(const uint8_t *modulus, size_t modulus_count, const uint8_t *exponent,
                                size_t exponent_count, char *reason) {
    if (modulus_count > 2048 || exponent_count > 8) return ccrypto_explain(reason, "too long"), NULL;
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = NULL;
    BIGNUM *n = BN_bin2bn(modulus, (int)modulus_count, NULL);
    BIGNUM *e = BN_bin2bn(exponent, (int)exponent_count, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (!n || !e || !builder) {
        ccrypto_explain(reason, "out of memory");
    } else if (!BN_is_odd(n) || !BN_is_odd(e) || BN_is_one(e)) {
        ccrypto_explain(reason, "modulus or exponent impossible");
    } else if (OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1
               && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1
               && (parameters = OSSL_PARAM_BLD_to_param(builder))) {
        key = from_parameters("RSA", parameters, reason);
    } else {
        ccrypto_explain(reason, "not a key");
    }
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return key;
}

ccrypto_key *ccrypto_ec_public(int kind, const uint8_t *point, size_t count, char *reason) {
    uint8_t uncompressed[97] = {4};
    if (count != 2 * coordinate_bytes(kind)) return ccrypto_explain(reason, "wrong length"), NULL;
    memcpy(uncompressed + 1, point, count);
    char group[16];
    strcpy(group, kind == CCRYPTO_KIND_P256 ? "prime256v1" : "secp384r1");
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, uncompressed, count + 1),
        OSSL_PARAM_construct_end(),
    };
    return from_parameters("EC", parameters, reason);
}

ccrypto_key *ccrypto_ed25519_public(const uint8_t *raw, size_t count, char *reason) {
    EVP_PKEY *key = count == 32 ? EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, count) : NULL;
    if (!key) ccrypto_explain(reason, "wrong length");
    return key;
}

ccrypto_key *ccrypto_generate(int kind, int bits, char *reason) {
    EVP_PKEY *key = NULL;
    switch (kind) {
    case CCRYPTO_KIND_RSA: key = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits); break;
    case CCRYPTO_KIND_P256: key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); break;
    case CCRYPTO_KIND_P384: key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-384"); break;
    case CCRYPTO_KIND_ED25519: key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); break;
    default: break;
    }
    if (!key) ccrypto_explain(reason, "no key of that kind");
    return key;
}

ccrypto_key *ccrypto_public_half(const ccrypto_key *key, char *reason) {
    unsigned char *der = NULL;
    int count = i2d_PUBKEY(key, &der);
    const unsigned char *start = der;
    EVP_PKEY *half = count > 0 ? d2i_PUBKEY(NULL, &start, count) : NULL;
    OPENSSL_free(der);
    if (!half) ccrypto_explain(reason, "no public half");
    return half;
}

void ccrypto_key_free(ccrypto_key *key) { EVP_PKEY_free(key); }

int ccrypto_key_kind(const ccrypto_key *key, int *bits) {
    *bits = EVP_PKEY_get_bits(key);
    if (EVP_PKEY_is_a(key, "RSA")) return CCRYPTO_KIND_RSA;
    if (EVP_PKEY_is_a(key, "ED25519")) return CCRYPTO_KIND_ED25519;
    char group[64] = "";
    size_t count = 0;
    if (EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, &count) == 1) {
        if (strcmp(group, "prime256v1") == 0) return CCRYPTO_KIND_P256;
        if (strcmp(group, "secp384r1") == 0) return CCRYPTO_KIND_P384;
    }
    ERR_clear_error();
    return CCRYPTO_KIND_OTHER;
}

size_t ccrypto_key_part(const ccrypto_key *key, int part, uint8_t *bytes, size_t capacity) {
    static const char *const names[] = {
        OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_EC_PUB_X, OSSL_PKEY_PARAM_EC_PUB_Y,
    };
    int bits = 0, kind = ccrypto_key_kind(key, &bits);
    if (part == CCRYPTO_PART_RAW) {
        size_t count = capacity;
        if (kind != CCRYPTO_KIND_ED25519 || EVP_PKEY_get_raw_public_key(key, bytes, &count) != 1) count = 0;
        ERR_clear_error();
        return count;
    }
    int is_curve = kind == CCRYPTO_KIND_P256 || kind == CCRYPTO_KIND_P384;
    int wants_curve = part == CCRYPTO_PART_X || part == CCRYPTO_PART_Y;
    if (part < 0 || part > CCRYPTO_PART_Y || (wants_curve ? !is_curve : kind != CCRYPTO_KIND_RSA)) return 0;
    BIGNUM *number = NULL;
    size_t count = 0;
    if (EVP_PKEY_get_bn_param(key, names[part], &number) == 1) {
        count = wants_curve ? coordinate_bytes(kind) : (size_t)BN_num_bytes(number);
        if (count > capacity || BN_bn2binpad(number, bytes, (int)count) < 0) count = 0;
    }
    BN_free(number);
    ERR_clear_error();
    return count;
}

size_t ccrypto_key_pem(const ccrypto_key *key, int private_half, uint8_t *pem, size_t capacity) {
    BIO *bio = BIO_new(BIO_s_secmem());
    size_t count = 0;
    int done = bio
        && (private_half ? PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)
                         : PEM_write_bio_PUBKEY(bio, key))
            == 1;
    if (done) {
        char *start = NULL;
        long length = BIO_get_mem_data(bio, &start);
        if (length > 0 && (size_t)length <= capacity) {
            count = (size_t)length;
            memcpy(pem, start, count);
        }
    }
    BIO_free(bio);
    ERR_clear_error();
    return count;
}

static int fits(const EVP_PKEY *key, int algorithm) {
    int bits = 0, kind = ccrypto_key_kind(key, &bits);
    switch (algorithm) {
    case CCRYPTO_ES256: return kind == CCRYPTO_KIND_P256;
    case CCRYPTO_ES384: return kind == CCRYPTO_KIND_P384;
    case CCRYPTO_EDDSA: return kind == CCRYPTO_KIND_ED25519;
    default: return kind == CCRYPTO_KIND_RSA && bits >= 2048 && bits <= 8192;
    }
}

// JWS writes r and s side by side (RFC 7518 §3.4), OpenSSL wants them as a DER sequence.
static int raw_to_der(const uint8_t *raw, size_t half, uint8_t *der, size_t capacity) {
    int count = -1;
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw, (int)half, NULL), *s = BN_bin2bn(raw + half, (int)half, NULL);
    if (signature && r && s && !BN_is_zero(r) && !BN_is_zero(s) && ECDSA_SIG_set0(signature, r, s) == 1) {
        r = s = NULL;
        count = i2d_ECDSA_SIG(signature, NULL);
        if (count > 0 && (size_t)count <= capacity) count = i2d_ECDSA_SIG(signature, &der);
        else count = -1;
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return count;
}

__attribute__((noinline)) int ccrypto_verify(ccrypto_key *key, int algorithm, const uint8_t *signature,
                                             size_t signature_count, const uint8_t *message, size_t count) {
    int valid = 0;
    if (!fits(key, algorithm)) return 0;
    if (algorithm == CCRYPTO_EDDSA) {
        if (signature_count != 64) return 0;
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        valid = context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1
            && EVP_DigestVerify(context, signature, signature_count, message, count) == 1;
        EVP_MD_CTX_free(context);
        ERR_clear_error();
        return valid;
    }
    uint8_t digest[EVP_MAX_MD_SIZE], der[128];
    unsigned digest_count = 0;
    if (algorithm == CCRYPTO_ES256 || algorithm == CCRYPTO_ES384) {
        size_t half = algorithm == CCRYPTO_ES256 ? 32 : 48;
        if (signature_count != 2 * half) return 0;
        int der_count = raw_to_der(signature, half, der, sizeof der);
        if (der_count <= 0) return ERR_clear_error(), 0;
        signature = der;
        signature_count = (size_t)der_count;
    } else if (signature_count != (size_t)EVP_PKEY_get_size(key)) {
        return 0;
    }
    EVP_PKEY_CTX *context = ccrypto_verifier(key, algorithm);
    valid = context && ccrypto_digest(ccrypto_md(algorithm), message, count, digest, &digest_count)
        && EVP_PKEY_verify(context, signature, signature_count, digest, digest_count) == 1;
    if (!valid) ERR_clear_error();
    return valid;
}

static size_t der_to_raw(const uint8_t *der, size_t der_count, size_t half, uint8_t *raw) {
    ECDSA_SIG *signature = d2i_ECDSA_SIG(NULL, &der, (long)der_count);
    int done = signature && BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw, (int)half) == (int)half
        && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw + half, (int)half) == (int)half;
    ECDSA_SIG_free(signature);
    return done ? 2 * half : 0;
}

size_t ccrypto_sign(ccrypto_key *key, int algorithm, const uint8_t *message, size_t count, uint8_t *signature,
                    size_t capacity, char *reason) {
    if (!fits(key, algorithm)) return ccrypto_explain(reason, "the algorithm does not fit the key"), 0;
    int is_curve = algorithm == CCRYPTO_ES256 || algorithm == CCRYPTO_ES384;
    uint8_t made[1024];
    size_t made_count = sizeof made, written = 0;
    EVP_PKEY_CTX *inner = NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int done = context && EVP_DigestSignInit(context, &inner, ccrypto_md(algorithm), NULL, key) == 1;
    if (done && algorithm == CCRYPTO_PS256)
        done = EVP_PKEY_CTX_set_rsa_padding(inner, RSA_PKCS1_PSS_PADDING) > 0
            && EVP_PKEY_CTX_set_rsa_pss_saltlen(inner, RSA_PSS_SALTLEN_DIGEST) > 0;
    done = done && EVP_DigestSign(context, made, &made_count, message, count) == 1;
    if (done && is_curve) {
        if (capacity >= 96) written = der_to_raw(made, made_count, algorithm == CCRYPTO_ES256 ? 32 : 48, signature);
    } else if (done && made_count <= capacity) {
        memcpy(signature, made, made_count);
        written = made_count;
    }
    EVP_MD_CTX_free(context);
    if (written == 0) ccrypto_explain(reason, "signing failed");
    return written;
}
