/** Memory that holds machine code. Linux and other systems with mmap(2); on macOS, hardened programs refuse it. */
import { InferyardError } from "../../contract/errors.ts";
import type { ForeignFunctions } from "./foreign-functions.ts";
import type { NativeLibrary } from "./native-library.ts";

const protection = { read: 1, write: 2, execute: 4 } as const;
const flags = { private: 0x02, anonymous: 0x20 } as const;
const pageBytes = 4096;

/** Pages with machine code. They are written first, and are then readable and executable, never writable and executable at once. */
export class ExecutableMemory {
  readonly #library: NativeLibrary;
  readonly #address: bigint;
  readonly #byteLength: number;
  /** Address of each function, in the order they were given. */
  readonly addresses: readonly bigint[];

  private constructor(library: NativeLibrary, address: bigint, byteLength: number, addresses: readonly bigint[]) {
    this.#library = library;
    this.#address = address;
    this.#byteLength = byteLength;
    this.addresses = addresses;
  }

  /**
   * Copies functions into new pages. `library` is the C library of this process. Throws BACKEND_UNAVAILABLE where the system allows no
   * such pages, as under seccomp, SELinux or systemd's MemoryDenyWriteExecute.
   */
  static allocate(ffi: ForeignFunctions, library: NativeLibrary, functions: readonly Uint8Array[]): ExecutableMemory {
    const alignment = 64;
    const starts: number[] = [];
    let end = 0;
    for (const { byteLength } of functions) {
      starts.push(end);
      end = Math.ceil((end + byteLength) / alignment) * alignment;
    }
    const byteLength = Math.max(1, Math.ceil(end / pageBytes)) * pageBytes;
    const mmap = library.bind("mmap", { result: "int64", parameters: ["pointer", "size", "int32", "int32", "int32", "int64"] });
    const mprotect = library.bind("mprotect", { result: "int32", parameters: ["pointer", "size", "int32"] });
    const address = mmap(undefined, byteLength, protection.read | protection.write, flags.private | flags.anonymous, -1, 0);
    if (address === -1n) throw refused(library, `no ${byteLength} bytes of memory for machine code`);
    const target = new Uint8Array(ffi.memoryAt(address, byteLength));
    for (const [index, code] of functions.entries()) target.set(code, starts[index] ?? 0);
    const memory = new ExecutableMemory(
      library,
      address,
      byteLength,
      starts.map((start) => address + BigInt(start)),
    );
    if (mprotect(address, byteLength, protection.read | protection.execute) === 0) return memory;
    memory.free();
    throw refused(library, "the system does not allow memory to become executable");
  }

  /** Returns the pages. None of the functions may be called afterwards, on any thread. */
  free(): void {
    this.#library.bind("munmap", { result: "int32", parameters: ["pointer", "size"] })(this.#address, this.#byteLength);
  }
}

function refused(library: NativeLibrary, reason: string): InferyardError {
  return new InferyardError("BACKEND_UNAVAILABLE", `machine code cannot be used: ${reason}`, { data: { library: library.path } });
}
