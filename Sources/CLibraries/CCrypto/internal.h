// Shared by the files of this target alone.
#ifndef SKILLGATE_CCRYPTO_INTERNAL_H
#define SKILLGATE_CCRYPTO_INTERNAL_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "CCrypto.h"

// Writes OpenSSL's oldest error, or `otherwise`, and empties this thread's queue.
void ccrypto_explain(char *reason, const char *otherwise);
// The fetched digests, for the life of the process.
const EVP_MD *ccrypto_md_sha256(void);
const EVP_MD *ccrypto_md(int algorithm);

// A context that verifies signatures by `key`, kept by this thread. Not to be freed.
EVP_PKEY_CTX *ccrypto_verifier(EVP_PKEY *key, int algorithm);
// The digest of `message` by the context that this thread keeps.
int ccrypto_digest(const EVP_MD *md, const uint8_t *bytes, size_t count, uint8_t *digest, unsigned *digest_count);

#endif
