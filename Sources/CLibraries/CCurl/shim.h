// First, since curl's headers may define _GNU_SOURCE, and what these declare would then differ from what Swift knows.
#include <sys/select.h>
#include <sys/types.h>

#include <curl/curl.h>

// libcurl takes its options by variadic functions, which Swift cannot call: one function a type of argument.

static inline CURLcode easy_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(easy, option, value);
}

// The text is copied by libcurl, but for CURLOPT_POSTFIELDS, which is not used.
static inline CURLcode easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return (curl_easy_setopt)(easy, option, value);
}

static inline CURLcode easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(easy, option, value);
}

// Header and body of the answer, and body of the request, all have this shape.
static inline CURLcode easy_set_transfer_function(
    CURL *easy, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)) {
    return (curl_easy_setopt)(easy, option, function);
}

static inline CURLcode easy_set_seek_function(CURL *easy, int (*function)(void *, curl_off_t, int)) {
    return (curl_easy_setopt)(easy, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLcode easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return (curl_easy_getinfo)(easy, info, value);
}

static inline CURLMcode multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}

static inline CURLMcode multi_set_socket_function(
    CURLM *multi, int (*function)(CURL *, curl_socket_t, int, void *, void *), void *context) {
    CURLMcode code = (curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, function);
    return code != CURLM_OK ? code : (curl_multi_setopt)(multi, CURLMOPT_SOCKETDATA, context);
}

static inline CURLMcode multi_set_timer_function(CURLM *multi, int (*function)(CURLM *, long, void *), void *context) {
    CURLMcode code = (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, function);
    return code != CURLM_OK ? code : (curl_multi_setopt)(multi, CURLMOPT_TIMERDATA, context);
}

// The code of a message, which lies in a union.
static inline CURLcode message_result(const CURLMsg *message) { return message->data.result; }
