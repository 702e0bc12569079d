// Certificates and the judgement of a chain.
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

static int no_password(char *buffer, int size, int rwflag, void *data) {
    (void)buffer, (void)size, (void)rwflag, (void)data;
    return -1;
}

int ccrypto_certificates_from_pem(const uint8_t *pem, size_t count, ccrypto_certificate **certificates, int limit,
                                  char *reason) {
    if (count > INT32_MAX) return ccrypto_explain(reason, "too long"), -1;
    BIO *bio = BIO_new_mem_buf(pem, (int)count);
    if (!bio) return ccrypto_explain(reason, "out of memory"), -1;
    int found = 0, failed = 0;
    const char *why = "not a certificate";
    for (;;) {
        X509 *certificate = PEM_read_bio_X509(bio, NULL, no_password, NULL);
        if (!certificate) {
            // The end of the text looks like "no start line"; anything else is a block that does not parse.
            unsigned long code = ERR_peek_last_error();
            failed = !(ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE);
            break;
        }
        if (found == limit) {
            X509_free(certificate);
            failed = 1;
            why = "too many certificates";
            break;
        }
        certificates[found++] = certificate;
    }
    BIO_free(bio);
    if (!failed) return ERR_clear_error(), found;
    for (int i = 0; i < found; i++) X509_free(certificates[i]);
    ccrypto_explain(reason, why);
    return -1;
}

void ccrypto_certificate_free(ccrypto_certificate *certificate) { X509_free(certificate); }

static size_t take(BIO *bio, uint8_t *text, size_t capacity) {
    char *start = NULL;
    long length = bio ? BIO_get_mem_data(bio, &start) : 0;
    size_t count = length > 0 && (size_t)length <= capacity ? (size_t)length : 0;
    if (count) memcpy(text, start, count);
    BIO_free(bio);
    ERR_clear_error();
    return count;
}

size_t ccrypto_certificate_pem(const ccrypto_certificate *certificate, uint8_t *pem, size_t capacity) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio) PEM_write_bio_X509(bio, certificate);
    return take(bio, pem, capacity);
}

size_t ccrypto_certificate_der(const ccrypto_certificate *certificate, uint8_t *der, size_t capacity) {
    int count = i2d_X509(certificate, NULL);
    if (count <= 0 || (size_t)count > capacity) return ERR_clear_error(), 0;
    return (size_t)i2d_X509(certificate, &der);
}

size_t ccrypto_certificate_subject(const ccrypto_certificate *certificate, uint8_t *text, size_t capacity) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio) X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
    return take(bio, text, capacity);
}

int ccrypto_certificate_dates(const ccrypto_certificate *certificate, int64_t *not_before, int64_t *not_after) {
    struct tm from, until;
    if (ASN1_TIME_to_tm(X509_get0_notBefore(certificate), &from) != 1
        || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &until) != 1)
        return ERR_clear_error(), 0;
    *not_before = timegm(&from);
    *not_after = timegm(&until);
    return 1;
}

size_t ccrypto_certificate_dns_names(const ccrypto_certificate *certificate, uint8_t *names, size_t capacity) {
    GENERAL_NAMES *all = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    size_t used = 0;
    for (int i = 0; all && i < sk_GENERAL_NAME_num(all); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(all, i);
        if (name->type != GEN_DNS) continue;
        size_t length = (size_t)ASN1_STRING_length(name->d.dNSName);
        if (used + 4 + length > capacity) break;
        for (int shift = 24; shift >= 0; shift -= 8) names[used++] = (uint8_t)(length >> shift);
        memcpy(names + used, ASN1_STRING_get0_data(name->d.dNSName), length);
        used += length;
    }
    GENERAL_NAMES_free(all);
    ERR_clear_error();
    return used;
}

uint32_t ccrypto_certificate_key_usage(ccrypto_certificate *certificate) {
    uint32_t usage = X509_get_key_usage(certificate);
    // An extension that does not parse allows nothing.
    if (X509_get_extension_flags(certificate) & EXFLAG_INVALID) usage = 0;
    ERR_clear_error();
    return usage;
}

int ccrypto_certificate_is_authority(ccrypto_certificate *certificate) {
    int authority = (X509_get_extension_flags(certificate) & EXFLAG_CA) != 0;
    ERR_clear_error();
    return authority;
}

ccrypto_key *ccrypto_certificate_key(const ccrypto_certificate *certificate) {
    EVP_PKEY *key = X509_get_pubkey((X509 *)certificate);
    ERR_clear_error();
    return key;
}

static int add_dns_names(X509 *certificate, const uint8_t *names, size_t count) {
    GENERAL_NAMES *all = GENERAL_NAMES_new();
    int done = all != NULL;
    for (size_t at = 0; done && at + 4 <= count;) {
        size_t length = ((size_t)names[at] << 24) | (names[at + 1] << 16) | (names[at + 2] << 8) | names[at + 3];
        at += 4;
        GENERAL_NAME *name = GENERAL_NAME_new();
        ASN1_IA5STRING *text = ASN1_IA5STRING_new();
        done = name && text && length <= count - at && ASN1_STRING_set(text, names + at, (int)length) == 1;
        at += length;
        if (!done) {
            GENERAL_NAME_free(name);
            ASN1_IA5STRING_free(text);
            break;
        }
        GENERAL_NAME_set0_value(name, GEN_DNS, text);
        done = sk_GENERAL_NAME_push(all, name) > 0;
        if (!done) GENERAL_NAME_free(name);
    }
    done = done && X509_add1_ext_i2d(certificate, NID_subject_alt_name, all, 0, X509V3_ADD_APPEND) == 1;
    GENERAL_NAMES_free(all);
    return done;
}

static int add_extensions(X509 *certificate, X509 *issuer, const struct ccrypto_template *made) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    for (size_t i = 0; i < made->extension_count; i++) {
        int nid = OBJ_sn2nid(made->extensions[2 * i]);
        X509_EXTENSION *extension =
            nid == NID_undef ? NULL : X509V3_EXT_conf_nid(NULL, &context, nid, made->extensions[2 * i + 1]);
        int added = extension && X509_add_ext(certificate, extension, -1) == 1;
        X509_EXTENSION_free(extension);
        if (!added) return 0;
    }
    return made->dns_names_count == 0 || add_dns_names(certificate, made->dns_names, made->dns_names_count);
}

ccrypto_certificate *ccrypto_certificate_issue(const struct ccrypto_template *made, const ccrypto_key *subject_key,
                                               const ccrypto_certificate *issuer, ccrypto_key *issuer_key,
                                               char *reason) {
    X509 *certificate = X509_new();
    X509_NAME *name = X509_NAME_new();
    BIGNUM *serial = BN_new();
    int done = certificate && name && serial && X509_set_version(certificate, made->version) == 1
        && BN_rand(serial, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1
        && BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate))
        && ASN1_TIME_adj(X509_getm_notBefore(certificate), (time_t)made->not_before, 0, 0)
        && ASN1_TIME_adj(X509_getm_notAfter(certificate), (time_t)made->not_after, 0, 0)
        && (made->common_name[0] == 0
            || X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                          (const unsigned char *)made->common_name, -1, -1, 0) == 1)
        && X509_set_subject_name(certificate, name) == 1
        && X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : name) == 1
        && X509_set_pubkey(certificate, (EVP_PKEY *)subject_key) == 1
        && add_extensions(certificate, issuer ? (X509 *)issuer : certificate, made);
    int bits = 0;
    const EVP_MD *md =
        done && ccrypto_key_kind(issuer_key, &bits) == CCRYPTO_KIND_ED25519 ? NULL : ccrypto_md_sha256();
    done = done && X509_sign(certificate, issuer_key, md) > 0;
    BN_free(serial);
    X509_NAME_free(name);
    if (done) return ERR_clear_error(), certificate;
    ccrypto_explain(reason, "no certificate could be made of the template");
    X509_free(certificate);
    return NULL;
}

ccrypto_store *ccrypto_store_new(void) { return X509_STORE_new(); }

int ccrypto_store_add(ccrypto_store *store, ccrypto_certificate *certificate) {
    int done = X509_STORE_add_cert(store, certificate);
    ERR_clear_error();
    return done == 1;
}

int ccrypto_store_add_system(ccrypto_store *store) {
    const char *folder = getenv(X509_get_default_cert_dir_env());
    int done = X509_STORE_load_path(store, folder && folder[0] ? folder : X509_get_default_cert_dir());
    ERR_clear_error();
    return done == 1;
}

void ccrypto_store_free(ccrypto_store *store) { X509_STORE_free(store); }

int ccrypto_judge(ccrypto_store *store, ccrypto_certificate *leaf, ccrypto_certificate *const *intermediates,
                  size_t count, int64_t at, int any_anchor, int maximum_intermediates, char *reason) {
    int code = X509_V_ERR_OUT_OF_MEM;
    // RFC 5280 §4.2.1.10: name constraints belong to authorities alone; OpenSSL does not look.
    if (X509_get_ext_by_NID(leaf, NID_name_constraints, -1) >= 0 && !ccrypto_certificate_is_authority(leaf)) {
        strncpy(reason, "name constraints in a certificate that is no authority", CCRYPTO_REASON_BYTES - 1);
        return X509_V_ERR_INVALID_EXTENSION;
    }
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    STACK_OF(X509) *untrusted = sk_X509_new_null();
    if (!context || !untrusted) goto done;
    for (size_t i = 0; i < count; i++)
        if (sk_X509_push(untrusted, intermediates[i]) <= 0) goto done;
    if (X509_STORE_CTX_init(context, store, leaf, untrusted) != 1) goto done;
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_time(parameters, (time_t)at);
    X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_X509_STRICT | X509_V_FLAG_TRUSTED_FIRST
                                                | (any_anchor ? X509_V_FLAG_PARTIAL_CHAIN : 0));
    X509_VERIFY_PARAM_set_depth(parameters, maximum_intermediates);
    // 112 bits: RSA from 2048 bits, no SHA-1 below the anchor.
    X509_VERIFY_PARAM_set_auth_level(parameters, 2);
    if (X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER) != 1) goto done;
    int trusted = X509_verify_cert(context);
    code = X509_STORE_CTX_get_error(context);
    if (trusted != 1 && code == X509_V_OK) code = X509_V_ERR_UNSPECIFIED;
    if (trusted == 1) code = X509_V_OK;
done:
    strncpy(reason, X509_verify_cert_error_string(code), CCRYPTO_REASON_BYTES - 1);
    reason[CCRYPTO_REASON_BYTES - 1] = 0;
    sk_X509_free(untrusted);
    X509_STORE_CTX_free(context);
    ERR_clear_error();
    return code;
}
