#include "CSimdjson.h"

#include <new>
#include <simdjson.h>

static_assert(simdjson::SIMDJSON_VERSION_MAJOR == 3, "CSimdjson.h reads the tape as simdjson 3 writes it");
static_assert(simdjson::SIMDJSON_PADDING <= 64, "callers give 64 spare bytes");

struct simdjson_shim_parser {
    simdjson::dom::parser parser;
};

namespace {

// Most requests fit: their parser never grows, and so can be any of the pool.
constexpr size_t least_capacity = 4096;

int reason(simdjson::error_code code) {
    switch (code) {
    case simdjson::SUCCESS: return SIMDJSON_SHIM_OK;
    case simdjson::DEPTH_ERROR: return SIMDJSON_SHIM_DEPTH;
    case simdjson::STRING_ERROR: return SIMDJSON_SHIM_STRING;
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR: return SIMDJSON_SHIM_LITERAL;
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE: return SIMDJSON_SHIM_NUMBER;
    case simdjson::UTF8_ERROR: return SIMDJSON_SHIM_UTF8;
    case simdjson::EMPTY: return SIMDJSON_SHIM_EMPTY;
    case simdjson::UNESCAPED_CHARS: return SIMDJSON_SHIM_CONTROL;
    case simdjson::UNCLOSED_STRING: return SIMDJSON_SHIM_UNCLOSED;
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC: return SIMDJSON_SHIM_MEMORY;
    default: return SIMDJSON_SHIM_SYNTAX;
    }
}

}  // namespace

simdjson_shim_parser *simdjson_shim_create(void) { return new (std::nothrow) simdjson_shim_parser; }

void simdjson_shim_destroy(simdjson_shim_parser *parser) { delete parser; }

int simdjson_shim_parse(
    simdjson_shim_parser *shim, const uint8_t *bytes, size_t length, size_t spare, size_t maximum_depth) {
    auto &parser = shim->parser;
    try {
        if (parser.capacity() < length || parser.capacity() == 0 || parser.max_depth() != maximum_depth) {
            const size_t capacity = length < least_capacity ? least_capacity : length;
            const auto failure = parser.allocate(capacity, maximum_depth);
            if (failure) { return reason(failure); }
        }
        return reason(parser.parse(bytes, length, spare < 64).error());
    } catch (...) { return SIMDJSON_SHIM_MEMORY; }
}

size_t simdjson_shim_capacity(const simdjson_shim_parser *parser) { return parser->parser.capacity(); }

const uint64_t *simdjson_shim_tape(const simdjson_shim_parser *parser) { return parser->parser.doc.tape.get(); }

const uint8_t *simdjson_shim_strings(const simdjson_shim_parser *parser) {
    return parser->parser.doc.string_buf.get();
}

size_t simdjson_shim_member(
    const uint64_t *tape, const uint8_t *strings, size_t object, const uint8_t *name, size_t name_length) {
    // The last word of an object closes it.
    const size_t end = simdjson_shim_after(tape, object) - 1;
    for (size_t key = object + 1; key < end; key = simdjson_shim_after(tape, key + 1)) {
        if (simdjson_shim_string_length(tape, strings, key) == name_length &&
            memcmp(simdjson_shim_string(tape, strings, key), name, name_length) == 0) {
            return key + 1;
        }
    }
    return 0;
}
