import { describe, expect, it } from "vitest";
import { demangle } from "./demangle.ts";

describe("demangle", () => {
  it.each([
    ["_Z3fooiPKc", "foo(int, char const*)"],
    ["_ZN3foo3barEv", "foo::bar()"],
    ["_ZNK3foo3barERKSt6vectorIiSaIiEE", "foo::bar(std::vector<int, std::allocator<int> > const&) const"],
    ["_ZN11llama_modelC1ERK18llama_model_params", "llama_model::llama_model(llama_model_params const&)"],
    ["_ZN11llama_modelD0Ev", "llama_model::~llama_model()"],
    ["_Z3addIfET_S0_S0_", "float add<float>(float, float)"],
    ["_Z4callPFviE", "call(void (*)(int))"],
    ["_Z4passRA3_i", "pass(int (&) [3])"],
    ["_ZTV11llama_model", "vtable for llama_model"],
    ["_ZlsRSoRK3foo", "operator<<(std::basic_ostream<char, std::char_traits<char> >&, foo const&)"],
    ["_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"],
    ["_Z3mulIL9ggml_type2ELi8ELb1EEvPKv", "void mul<(ggml_type)2, 8, true>(void const*)"],
    [
      "_Z7forwardIJRKiSsEEvDpOT_",
      "void forward<int const&, std::basic_string<char, std::char_traits<char>, std::allocator<char> > >(int const&, std::basic_string<char, std::char_traits<char>, std::allocator<char> >&&)",
    ],
    ["_ZZ4mainE7counter", "main::counter"],
    ["_Z3foov.cold", "foo() [clone .cold]"],
  ])("%s", (mangled, declaration) => {
    expect(demangle(mangled)).toBe(declaration);
  });

  it.each(["llama_decode", "", "_Z", "_Z3fo", "_ZN3foo", "_Z1fDTplfp_fp0_E", "?foo@@YAHH@Z", `_Z1f${"P".repeat(5000)}i`])(
    "%.20s is left as it is",
    (name) => {
      expect(demangle(name)).toBe(name);
    },
  );

  it("gives up a name whose substitutions double its length each time", () => {
    const doubling = `_Z1f${Array.from({ length: 40 }, (_each, index) => `1aIS${index === 0 ? "t1b" : `${(index * 2 - 1).toString(36).toUpperCase()}_`}E`).join("")}`;
    expect(demangle(doubling).length).toBeLessThan(100_000);
  });
});
