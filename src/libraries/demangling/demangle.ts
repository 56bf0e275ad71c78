/** C++ names as people write them. */
import { Demangler } from "./demangler.ts";
import { NotDemangled } from "./mangled-name.ts";

/**
 * The C++ declaration of a mangled symbol, as c++filt prints it. A name that is not mangled, or has an unknown construct, is returned unchanged. Only names of
 * the Itanium C++ ABI (GCC, Clang) are known.
 */
export function demangle(name: string): string {
  if (!name.startsWith("_Z")) return name;
  try {
    return new Demangler(name).demangle();
  } catch (error) {
    if (error instanceof NotDemangled) return name;
    throw error;
  }
}
