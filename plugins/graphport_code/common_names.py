"""Names that say nothing: what every program of a language calls on the language's own things."""

from __future__ import annotations

import builtins

_PYTHON_TYPES = (str, bytes, list, dict, set, tuple, int, float)
PYTHON_BUILTINS = frozenset(dir(builtins))
PYTHON_METHODS = frozenset(name for of in _PYTHON_TYPES for name in dir(of) if not name.startswith("_"))
PYTHON_NAMES = PYTHON_BUILTINS | PYTHON_METHODS

JS_BUILTINS = frozenset(
    "console Math JSON Object Array Promise Number String Boolean Symbol BigInt Date RegExp Error TypeError "
    "RangeError Map Set WeakMap WeakSet Proxy Reflect Intl parseInt parseFloat isNaN isFinite "
    "decodeURIComponent encodeURIComponent decodeURI encodeURI setTimeout clearTimeout setInterval "
    "clearInterval setImmediate queueMicrotask fetch document window globalThis navigator location process "
    "Buffer URL URLSearchParams AbortController TextEncoder TextDecoder Uint8Array Int8Array Uint16Array "
    "Int16Array Uint32Array Int32Array Float32Array Float64Array ArrayBuffer DataView require module exports "
    "undefined NaN Infinity structuredClone performance crypto alert describe it test expect beforeEach "
    "afterEach beforeAll afterAll jest vi".split()
)
JS_METHODS = frozenset(
    "push pop shift unshift slice splice concat join reverse sort map filter forEach reduce reduceRight find "
    "findIndex findLast some every includes indexOf lastIndexOf fill flat flatMap keys values entries at from "
    "of isArray copyWithin get set has delete clear add size charAt charCodeAt codePointAt split trim "
    "trimStart trimEnd padStart padEnd repeat replace replaceAll match matchAll search startsWith endsWith "
    "substring substr toLowerCase toUpperCase normalize toString toFixed toJSON toISOString getTime valueOf "
    "hasOwnProperty isPrototypeOf call apply bind then catch finally resolve reject all race allSettled any "
    "stringify parse log error warn info debug assign create freeze defineProperty getOwnPropertyNames "
    "getPrototypeOf next return throw test exec on off once emit addEventListener removeEventListener "
    "constructor".split()
)
JS_NAMES = JS_BUILTINS | JS_METHODS

RUST_METHODS = frozenset(
    "new default clone fmt from into try_from try_into as_ref as_mut as_str as_bytes as_slice borrow "
    "borrow_mut to_string to_owned to_vec eq ne cmp partial_cmp hash drop deref deref_mut next iter iter_mut "
    "into_iter len is_empty push pop insert remove get get_mut contains contains_key extend clear map map_err "
    "and_then or_else ok_or unwrap unwrap_or unwrap_or_else unwrap_or_default expect ok err is_some is_none "
    "is_ok is_err filter filter_map flat_map fold collect zip rev enumerate take skip chain any all find "
    "position count sum min max sort sort_by sort_by_key join split split_whitespace trim lines chars bytes "
    "starts_with ends_with replace parse read write write_all flush lock send recv spawn await poll index add "
    "sub mul div rem neg not append retain drain first last entry or_insert copied cloned lowercase "
    "to_lowercase to_uppercase unwrap_err with_capacity capacity swap abs pow sqrt".split()
)
GO_METHODS = frozenset(
    "Error String Close Read Write Lock Unlock RLock RUnlock Add Done Wait Len Less Swap Print Printf Println "
    "Sprintf Errorf Fatal Fatalf Run Name Get Set Do Load Store Reset Bytes WriteString Format Unix Sub Now "
    "Parse Scan Next append len cap make new copy delete panic recover close print println min max clear "
    "complex real imag".split()
)
JAVA_METHODS = frozenset(
    "equals hashCode toString getClass compareTo clone close run call get set add remove size isEmpty contains "
    "put containsKey containsValue keySet values entrySet getKey getValue iterator hasNext next stream map "
    "filter collect forEach reduce of asList length charAt substring indexOf split trim format valueOf "
    "parseInt append println print printf apply accept test orElse orElseThrow isPresent ifPresent clear "
    "addAll sort toArray getMessage getName toList name ordinal wait notify notifyAll start join read write "
    "flush matches replace startsWith endsWith".split()
)
C_NAMES = frozenset(
    "if while for switch return sizeof malloc free calloc realloc printf fprintf sprintf snprintf memcpy "
    "memset strlen strcmp strcpy strncpy assert exit abort begin end size push_back emplace_back insert erase "
    "find get data at".split()
)

COMMON_METHODS = {
    "python": PYTHON_METHODS,
    "js": JS_METHODS,
    "rust": RUST_METHODS,
    "go": GO_METHODS,
    "java": JAVA_METHODS,
    "c": C_NAMES,
}
"""By family of languages: by such a name alone no target is guessed."""
BUILTINS = {"python": PYTHON_BUILTINS, "js": JS_BUILTINS}
"""By family: names that are the language's own where nothing in the project defines them."""
UNWRAPS = {
    "rust": frozenset(
        "unwrap expect clone cloned copied as_ref as_mut as_deref as_deref_mut borrow borrow_mut lock read write iter "
        "iter_mut into_iter unwrap_or unwrap_or_else unwrap_or_default ok to_owned into_inner deref get_mut ok_or "
        "ok_or_else map_err context with_context take await".split()
    ),
    "java": frozenset({"get", "orElse", "orElseThrow", "join"}),
}
"""By family: methods that hand out what a wrapper holds, where wrappers are read as what they hold."""
