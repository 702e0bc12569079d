// What Crypto asks of OpenSSL, as whole operations: no context of OpenSSL's ever crosses this border, so a Swift task
// that goes on upon another thread can never hold one of the thread that it left.
#ifndef SKILLGATE_CCRYPTO_H
#define SKILLGATE_CCRYPTO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Room for a reason, its final NUL included.
#define CCRYPTO_REASON_BYTES 256

typedef struct evp_pkey_st ccrypto_key;
typedef struct x509_st ccrypto_certificate;
typedef struct x509_store_st ccrypto_store;

// Digests, random bytes, ciphers -----------------------------------------------------------------------------------

void ccrypto_sha256(const uint8_t *bytes, size_t count, uint8_t *digest);
void ccrypto_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *code);
int ccrypto_equal(const uint8_t *a, const uint8_t *b, size_t count);
void ccrypto_random(uint8_t *bytes, size_t count);
// 1 when done. `sealed` is nonce (12), ciphertext (count), tag (16).
int ccrypto_gcm_seal(const uint8_t *key, const uint8_t *data, size_t data_count, const uint8_t *plain, size_t count,
                     uint8_t *sealed);
int ccrypto_gcm_open(const uint8_t *key, const uint8_t *data, size_t data_count, const uint8_t *sealed,
                     size_t sealed_count, uint8_t *plain);
int ccrypto_scrypt(const uint8_t *password, size_t password_count, const uint8_t *salt, size_t salt_count, uint64_t n,
                   uint64_t r, uint64_t p, uint64_t memory_bytes, uint8_t *key, size_t key_count);

// Keys -------------------------------------------------------------------------------------------------------------

enum ccrypto_kind {
    CCRYPTO_KIND_OTHER = 0,
    CCRYPTO_KIND_RSA = 1,
    CCRYPTO_KIND_P256 = 2,
    CCRYPTO_KIND_P384 = 3,
    CCRYPTO_KIND_ED25519 = 4,
};

enum ccrypto_algorithm {
    CCRYPTO_RS256 = 0,
    CCRYPTO_RS384 = 1,
    CCRYPTO_RS512 = 2,
    CCRYPTO_PS256 = 3,
    CCRYPTO_ES256 = 4,
    CCRYPTO_ES384 = 5,
    CCRYPTO_EDDSA = 6,
    CCRYPTO_RS1 = 7,
};

enum ccrypto_part {
    CCRYPTO_PART_MODULUS = 0,
    CCRYPTO_PART_EXPONENT = 1,
    CCRYPTO_PART_X = 2,
    CCRYPTO_PART_Y = 3,
    CCRYPTO_PART_RAW = 4,
};

// A key is freed by ccrypto_key_free; NULL where it cannot be made, with the reason.
ccrypto_key *ccrypto_public_key_from_pem(const uint8_t *pem, size_t count, char *reason);
ccrypto_key *ccrypto_private_key_from_pem(const uint8_t *pem, size_t count, char *reason);
ccrypto_key *ccrypto_rsa_public(const uint8_t *modulus, size_t modulus_count, const uint8_t *exponent,
                                size_t exponent_count, char *reason);
// `point` is x and y, each as long as the curve's field.
ccrypto_key *ccrypto_ec_public(int kind, const uint8_t *point, size_t count, char *reason);
ccrypto_key *ccrypto_ed25519_public(const uint8_t *raw, size_t count, char *reason);
ccrypto_key *ccrypto_generate(int kind, int bits, char *reason);
ccrypto_key *ccrypto_public_half(const ccrypto_key *key, char *reason);
void ccrypto_key_free(ccrypto_key *key);
int ccrypto_key_kind(const ccrypto_key *key, int *bits);
// How many bytes the part has; they are written where `capacity` suffices. 0 where the key has no such part.
size_t ccrypto_key_part(const ccrypto_key *key, int part, uint8_t *bytes, size_t capacity);
// Bytes of the PEM text, written where `capacity` suffices; 0 on failure.
size_t ccrypto_key_pem(const ccrypto_key *key, int private_half, uint8_t *pem, size_t capacity);

// 1 valid, 0 not. Digest and padding come from the algorithm, which must fit the key.
int ccrypto_verify(ccrypto_key *key, int algorithm, const uint8_t *signature, size_t signature_count,
                   const uint8_t *message, size_t count);
// Bytes of the signature, 0 on failure.
size_t ccrypto_sign(ccrypto_key *key, int algorithm, const uint8_t *message, size_t count, uint8_t *signature,
                    size_t capacity, char *reason);

// Certificates -----------------------------------------------------------------------------------------------------

// Up to `limit` certificates of the PEM text, in its order. Their number, or -1 with the reason.
int ccrypto_certificates_from_pem(const uint8_t *pem, size_t count, ccrypto_certificate **certificates, int limit,
                                  char *reason);
void ccrypto_certificate_free(ccrypto_certificate *certificate);
size_t ccrypto_certificate_pem(const ccrypto_certificate *certificate, uint8_t *pem, size_t capacity);
size_t ccrypto_certificate_der(const ccrypto_certificate *certificate, uint8_t *der, size_t capacity);
size_t ccrypto_certificate_subject(const ccrypto_certificate *certificate, uint8_t *text, size_t capacity);
// Seconds since the epoch; 0 on failure.
int ccrypto_certificate_dates(const ccrypto_certificate *certificate, int64_t *not_before, int64_t *not_after);
// DNS names of the subject alternative name: for each a four-byte big-endian length and the bytes.
size_t ccrypto_certificate_dns_names(const ccrypto_certificate *certificate, uint8_t *names, size_t capacity);
// Key usage bits of X509_get_key_usage; UINT32_MAX where the extension is absent.
uint32_t ccrypto_certificate_key_usage(ccrypto_certificate *certificate);
int ccrypto_certificate_is_authority(ccrypto_certificate *certificate);
ccrypto_key *ccrypto_certificate_key(const ccrypto_certificate *certificate);

struct ccrypto_template {
    const char *common_name;
    int64_t not_before;
    int64_t not_after;
    int version;                    // 0 is v1, 2 is v3
    const char *const *extensions;  // name, value, name, value …; values in OpenSSL's configuration syntax
    size_t extension_count;         // pairs
    const uint8_t *dns_names;       // as ccrypto_certificate_dns_names gives them
    size_t dns_names_count;
};
ccrypto_certificate *ccrypto_certificate_issue(const struct ccrypto_template *made, const ccrypto_key *subject_key,
                                               const ccrypto_certificate *issuer, ccrypto_key *issuer_key,
                                               char *reason);

ccrypto_store *ccrypto_store_new(void);
int ccrypto_store_add(ccrypto_store *store, ccrypto_certificate *certificate);
// The system's roots: the hashed folder, read as it is needed.
int ccrypto_store_add_system(ccrypto_store *store);
void ccrypto_store_free(ccrypto_store *store);

// 0 trusted, otherwise OpenSSL's code; the reason is its text. 10 is expired, 9 not yet valid.
int ccrypto_judge(ccrypto_store *store, ccrypto_certificate *leaf, ccrypto_certificate *const *intermediates,
                  size_t count, int64_t at, int any_anchor, int maximum_intermediates, char *reason);

#ifdef __cplusplus
}
#endif

#endif
