// simdjson's DOM parser behind plain C. Nothing here throws, and no C++ type is seen from outside.
#ifndef SKILLGATE_CSIMDJSON_H
#define SKILLGATE_CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

/// A parser with the document that it read last.
typedef struct simdjson_shim_parser simdjson_shim_parser;

/// Why a document was refused.
enum {
    SIMDJSON_SHIM_OK = 0,
    SIMDJSON_SHIM_SYNTAX,
    SIMDJSON_SHIM_DEPTH,
    SIMDJSON_SHIM_STRING,
    SIMDJSON_SHIM_LITERAL,
    SIMDJSON_SHIM_NUMBER,
    SIMDJSON_SHIM_UTF8,
    SIMDJSON_SHIM_EMPTY,
    SIMDJSON_SHIM_CONTROL,
    SIMDJSON_SHIM_UNCLOSED,
    SIMDJSON_SHIM_MEMORY,
};

/// A parser without memory of its own yet, or NULL where there is none left.
simdjson_shim_parser *_Nullable simdjson_shim_create(void);

void simdjson_shim_destroy(simdjson_shim_parser *parser);

/// Reads one document, and drops the one before. `spare` is how many bytes may be read after the document's last: with
/// fewer than 64 the document is copied first.
int simdjson_shim_parse(
    simdjson_shim_parser *parser, const uint8_t *bytes, size_t length, size_t spare, size_t maximum_depth);

/// How long a document the parser's memory holds.
size_t simdjson_shim_capacity(const simdjson_shim_parser *parser);

/// A document's values in order of appearance, as simdjson's doc/tape.md describes them: a letter in the highest byte
/// and a payload below it. Valid until the parser reads again or is destroyed.
const uint64_t *simdjson_shim_tape(const simdjson_shim_parser *parser);

/// The text of the document's strings: four bytes of length, then the text, at the offset that the tape names.
const uint8_t *simdjson_shim_strings(const simdjson_shim_parser *parser);

/// The letter of a place on the tape: one of `[{"ludtfn`.
static inline uint8_t simdjson_shim_letter(const uint64_t *tape, size_t place) { return (uint8_t)(tape[place] >> 56); }

/// The place that follows a value and all that is in it.
static inline size_t simdjson_shim_after(const uint64_t *tape, size_t place) {
    switch (simdjson_shim_letter(tape, place)) {
    case '{':
    case '[': return (uint32_t)tape[place];
    case 'l':
    case 'u':
    case 'd': return place + 2;
    default: return place + 1;
    }
}

/// The bytes of the number at `place`, as they follow its letter.
static inline uint64_t simdjson_shim_number(const uint64_t *tape, size_t place) { return tape[place + 1]; }

static inline uint32_t simdjson_shim_string_length(const uint64_t *tape, const uint8_t *strings, size_t place) {
    uint32_t length;
    memcpy(&length, strings + (tape[place] & 0x00FFFFFFFFFFFFFF), sizeof length);
    return length;
}

static inline const uint8_t *simdjson_shim_string(const uint64_t *tape, const uint8_t *strings, size_t place) {
    return strings + (tape[place] & 0x00FFFFFFFFFFFFFF) + sizeof(uint32_t);
}

/// The place of the first member of that name in the object at `object`, or 0 (which is no value's place).
size_t simdjson_shim_member(
    const uint64_t *tape, const uint8_t *strings, size_t object, const uint8_t *name, size_t name_length);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
#endif
