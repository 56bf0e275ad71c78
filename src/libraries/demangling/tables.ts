/** Codes of the Itanium C++ ABI for builtin types, operators and standard names (sections 5.1.3, 5.1.5.2 and 5.1.10). */

/** Types of one letter. */
export const builtinTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    v: "void",
    w: "wchar_t",
    b: "bool",
    c: "char",
    a: "signed char",
    h: "unsigned char",
    s: "short",
    t: "unsigned short",
    i: "int",
    j: "unsigned int",
    l: "long",
    m: "unsigned long",
    x: "long long",
    y: "unsigned long long",
    n: "__int128",
    o: "unsigned __int128",
    f: "float",
    d: "double",
    e: "long double",
    g: "__float128",
    z: "...",
  }),
);

/** Types of two letters. */
export const extendedTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Dn: "decltype(nullptr)",
    Da: "auto",
    Dc: "decltype(auto)",
    Di: "char32_t",
    Ds: "char16_t",
    Du: "char8_t",
    Dh: "_Float16",
  }),
);

/** Suffix of integer literals of a type; other types are written as a cast. */
export const literalSuffixes: ReadonlyMap<string, string> = new Map(
  Object.entries({ i: "", j: "u", l: "l", m: "ul", x: "ll", y: "ull" }),
);

/** Names that have a code of their own, and the name of their constructors. */
export const standardNames: ReadonlyMap<string, readonly [name: string, constructorName: string]> = new Map(
  Object.entries({
    Sa: ["std::allocator", "allocator"],
    Sb: ["std::basic_string", "basic_string"],
    Ss: ["std::basic_string<char, std::char_traits<char>, std::allocator<char> >", "basic_string"],
    Si: ["std::basic_istream<char, std::char_traits<char> >", "basic_istream"],
    So: ["std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"],
    Sd: ["std::basic_iostream<char, std::char_traits<char> >", "basic_iostream"],
  }),
);

/** Operators that are functions. */
export const operators: ReadonlyMap<string, string> = new Map(
  Object.entries({
    nw: " new",
    na: " new[]",
    dl: " delete",
    da: " delete[]",
    ps: "+",
    ng: "-",
    ad: "&",
    de: "*",
    co: "~",
    pl: "+",
    mi: "-",
    ml: "*",
    dv: "/",
    rm: "%",
    an: "&",
    or: "|",
    eo: "^",
    aS: "=",
    pL: "+=",
    mI: "-=",
    mL: "*=",
    dV: "/=",
    rM: "%=",
    aN: "&=",
    oR: "|=",
    eO: "^=",
    ls: "<<",
    rs: ">>",
    lS: "<<=",
    rS: ">>=",
    eq: "==",
    ne: "!=",
    lt: "<",
    gt: ">",
    le: "<=",
    ge: ">=",
    ss: "<=>",
    nt: "!",
    aa: "&&",
    oo: "||",
    pp: "++",
    mm: "--",
    cm: ",",
    pm: "->*",
    pt: "->",
    cl: "()",
    ix: "[]",
  }),
);

/** Prefixes of symbols that belong to a type or function, such as virtual tables. */
export const specialNames: ReadonlyMap<string, string> = new Map(
  Object.entries({ TV: "vtable for ", TT: "VTT for ", TI: "typeinfo for ", TS: "typeinfo name for " }),
);
