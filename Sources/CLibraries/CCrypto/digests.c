// Digests, codes and ciphers, and the contexts that each thread keeps for them.
//
// Making a context costs more than the hash of a short text, so a thread keeps its own and uses it again. They are
// reached inside these functions only, which are never inlined: the address of a thread-local that a compiler carries
// over a suspension would be the old thread's.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define VERIFIERS 16

struct verifier {
    EVP_PKEY *key;  // referenced, so that the address cannot come to mean another key
    int algorithm;
    EVP_PKEY_CTX *context;
    uint64_t used;
};

struct thread_state {
    EVP_MD_CTX *digest;
    EVP_MAC_CTX *code;
    struct verifier verifiers[VERIFIERS];
    uint64_t clock;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_exit;
static EVP_MD *sha1, *sha256, *sha384, *sha512;
static EVP_CIPHER *gcm;
static EVP_MAC *hmac;
static __thread struct thread_state *of_this_thread;

// OpenSSL would free everything of its own at exit, and a thread that still signs or hashes then would crash the program
// at its end. Said before main, since whoever sets OpenSSL up first decides.
__attribute__((constructor)) static void keep_until_the_end(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

static void drop_verifier(struct verifier *verifier) {
    EVP_PKEY_CTX_free(verifier->context);
    EVP_PKEY_free(verifier->key);
    memset(verifier, 0, sizeof *verifier);
}

static void drop_state(void *pointer) {
    struct thread_state *state = pointer;
    of_this_thread = NULL;
    for (int i = 0; i < VERIFIERS; i++) drop_verifier(&state->verifiers[i]);
    EVP_MD_CTX_free(state->digest);
    EVP_MAC_CTX_free(state->code);
    free(state);
}

static void set_up(void) {
    sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    sha384 = EVP_MD_fetch(NULL, "SHA384", NULL);
    sha512 = EVP_MD_fetch(NULL, "SHA512", NULL);
    gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    // Without these nothing that follows can be right; an OpenSSL that lacks them is no OpenSSL.
    if (!sha1 || !sha256 || !sha384 || !sha512 || !gcm || !hmac) abort();
    if (pthread_key_create(&at_thread_exit, drop_state) != 0) abort();
}

__attribute__((noinline)) static struct thread_state *state(void) {
    if (of_this_thread) return of_this_thread;
    pthread_once(&once, set_up);
    struct thread_state *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->digest = EVP_MD_CTX_new();
    made->code = EVP_MAC_CTX_new(hmac);
    if (!made->digest || !made->code) abort();
    pthread_setspecific(at_thread_exit, made);
    of_this_thread = made;
    return made;
}

void ccrypto_explain(char *reason, const char *otherwise) {
    unsigned long code = ERR_peek_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    if (!reason) return;
    strncpy(reason, text ? text : otherwise, CCRYPTO_REASON_BYTES - 1);
    reason[CCRYPTO_REASON_BYTES - 1] = 0;
}

const EVP_MD *ccrypto_md_sha256(void) {
    pthread_once(&once, set_up);
    return sha256;
}

const EVP_MD *ccrypto_md(int algorithm) {
    pthread_once(&once, set_up);
    switch (algorithm) {
    case CCRYPTO_RS1: return sha1;
    case CCRYPTO_RS256: case CCRYPTO_PS256: case CCRYPTO_ES256: return sha256;
    case CCRYPTO_RS384: case CCRYPTO_ES384: return sha384;
    case CCRYPTO_RS512: return sha512;
    default: return NULL;
    }
}

__attribute__((noinline)) int ccrypto_digest(const EVP_MD *md, const uint8_t *bytes, size_t count, uint8_t *digest,
                                             unsigned *digest_count) {
    EVP_MD_CTX *context = state()->digest;
    return EVP_DigestInit_ex(context, md, NULL) == 1 && EVP_DigestUpdate(context, bytes, count) == 1
        && EVP_DigestFinal_ex(context, digest, digest_count) == 1;
}

__attribute__((noinline)) EVP_PKEY_CTX *ccrypto_verifier(EVP_PKEY *key, int algorithm) {
    struct thread_state *kept = state();
    struct verifier *oldest = &kept->verifiers[0];
    for (int i = 0; i < VERIFIERS; i++) {
        struct verifier *candidate = &kept->verifiers[i];
        if (candidate->key == key && candidate->algorithm == algorithm) {
            candidate->used = ++kept->clock;
            return candidate->context;
        }
        if (candidate->used < oldest->used) oldest = candidate;
    }
    const EVP_MD *md = ccrypto_md(algorithm);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    if (!context || EVP_PKEY_verify_init(context) <= 0 || EVP_PKEY_CTX_set_signature_md(context, md) <= 0) goto failed;
    if (algorithm == CCRYPTO_PS256) {
        if (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) <= 0
            || EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) <= 0
            || EVP_PKEY_CTX_set_rsa_mgf1_md(context, md) <= 0)
            goto failed;
    } else if (algorithm != CCRYPTO_ES256 && algorithm != CCRYPTO_ES384) {
        if (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) <= 0) goto failed;
    }
    if (EVP_PKEY_up_ref(key) != 1) goto failed;
    drop_verifier(oldest);
    *oldest = (struct verifier){key, algorithm, context, ++kept->clock};
    return context;
failed:
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return NULL;
}

__attribute__((noinline)) void ccrypto_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    if (!ccrypto_digest(ccrypto_md_sha256(), bytes, count, digest, NULL)) abort();
}

__attribute__((noinline)) void ccrypto_hmac_sha256(const uint8_t *key, size_t key_count, const uint8_t *bytes,
                                                   size_t count, uint8_t *code) {
    EVP_MAC_CTX *context = state()->code;
    char name[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
        OSSL_PARAM_construct_end(),
    };
    size_t written = 0;
    // An empty key still needs an address: a null one means "the key of the last time".
    const uint8_t none = 0;
    if (EVP_MAC_init(context, key_count ? key : &none, key_count, parameters) != 1
        || EVP_MAC_update(context, bytes, count) != 1 || EVP_MAC_final(context, code, &written, 32) != 1
        || written != 32)
        abort();
}

int ccrypto_equal(const uint8_t *a, const uint8_t *b, size_t count) { return CRYPTO_memcmp(a, b, count) == 0; }

void ccrypto_random(uint8_t *bytes, size_t count) {
    // No random bytes, no secrets: going on would be worse than stopping.
    while (count > 0) {
        int part = count > 1 << 20 ? 1 << 20 : (int)count;
        if (RAND_bytes(bytes, part) != 1) abort();
        bytes += part;
        count -= (size_t)part;
    }
}

int ccrypto_gcm_seal(const uint8_t *key, const uint8_t *data, size_t data_count, const uint8_t *plain, size_t count,
                     uint8_t *sealed) {
    pthread_once(&once, set_up);
    if (count > INT32_MAX || data_count > INT32_MAX) return 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0, rest = 0;
    ccrypto_random(sealed, 12);
    int done = context && EVP_EncryptInit_ex2(context, gcm, key, sealed, NULL) == 1
        && EVP_EncryptUpdate(context, NULL, &written, data, (int)data_count) == 1
        && EVP_EncryptUpdate(context, sealed + 12, &written, plain, (int)count) == 1
        && EVP_EncryptFinal_ex(context, sealed + 12 + written, &rest) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, sealed + 12 + count) == 1;
    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    return done;
}

int ccrypto_gcm_open(const uint8_t *key, const uint8_t *data, size_t data_count, const uint8_t *sealed,
                     size_t sealed_count, uint8_t *plain) {
    pthread_once(&once, set_up);
    if (sealed_count < 28 || sealed_count > INT32_MAX || data_count > INT32_MAX) return 0;
    size_t count = sealed_count - 28;
    uint8_t tag[16];
    memcpy(tag, sealed + 12 + count, 16);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0, rest = 0;
    int done = context && EVP_DecryptInit_ex2(context, gcm, key, sealed, NULL) == 1
        && EVP_DecryptUpdate(context, NULL, &written, data, (int)data_count) == 1
        && EVP_DecryptUpdate(context, plain, &written, sealed + 12, (int)count) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1
        && EVP_DecryptFinal_ex(context, plain + written, &rest) == 1;
    EVP_CIPHER_CTX_free(context);
    ERR_clear_error();
    if (!done) OPENSSL_cleanse(plain, count);
    return done;
}

int ccrypto_scrypt(const uint8_t *password, size_t password_count, const uint8_t *salt, size_t salt_count, uint64_t n,
                   uint64_t r, uint64_t p, uint64_t memory_bytes, uint8_t *key, size_t key_count) {
    int done = EVP_PBE_scrypt((const char *)password, password_count, salt, salt_count, n, r, p, memory_bytes, key,
                              key_count);
    ERR_clear_error();
    return done == 1;
}
