/** NVRTC: compiles CUDA C to machine code of one kind of GPU. It needs no GPU. */
import { InferyardError } from "../../../contract/errors.ts";
import type { ForeignFunctions, NativeLibrary } from "../../../libraries/ffi/index.ts";

const status = "int32" as const;

function bindNvrtc(library: NativeLibrary) {
  const read = { result: status, parameters: ["pointer", "pointer"] } as const;
  return {
    version: library.bind("nvrtcVersion", read),
    create: library.bind("nvrtcCreateProgram", {
      result: status,
      parameters: ["pointer", "string", "string", "int32", "pointer", "pointer"],
    }),
    compile: library.bind("nvrtcCompileProgram", { result: status, parameters: ["pointer", "int32", "pointer"] }),
    codeSize: library.bind("nvrtcGetCUBINSize", read),
    code: library.bind("nvrtcGetCUBIN", read),
    logSize: library.bind("nvrtcGetProgramLogSize", read),
    log: library.bind("nvrtcGetProgramLog", read),
    destroy: library.bind("nvrtcDestroyProgram", { result: status, parameters: ["pointer"] }),
    words: library.bind("nvrtcGetErrorString", { result: "string", parameters: [status] }),
  };
}

/** Options of the compiler for GPUs of a compute capability times ten. */
export function nvrtcOptions(capability: number): readonly string[] {
  return [`--gpu-architecture=sm_${capability}`, "--std=c++17"];
}

/** The compiler. */
export class Nvrtc {
  /** Such as "12.9". */
  readonly version: string;
  readonly #ffi: ForeignFunctions;
  readonly #calls: ReturnType<typeof bindNvrtc>;

  /** Throws LIBRARY_INCOMPATIBLE for a library without the compiler's functions, or older than CUDA 11.2. */
  constructor(ffi: ForeignFunctions, library: NativeLibrary) {
    this.#ffi = ffi;
    this.#calls = bindNvrtc(library);
    const [major, minor] = [new Int32Array(1), new Int32Array(1)];
    this.#check("nvrtcVersion", this.#calls.version(major, minor));
    this.version = `${major[0]}.${minor[0]}`;
  }

  /** Machine code for GPUs of this compute capability times ten. Throws RUN_FAILED with the compiler's messages. */
  compile(source: string, capability: number): Uint8Array {
    const handle = new BigUint64Array(1);
    this.#check("nvrtcCreateProgram", this.#calls.create(handle, source, "program.cu", 0, undefined, undefined));
    const program = handle[0] ?? 0n;
    try {
      const options = nvrtcOptions(capability).map((option) => Buffer.from(`${option}\0`));
      const addresses = BigUint64Array.from(options, (option) => this.#ffi.getAddress(option));
      const result = this.#calls.compile(program, options.length, addresses);
      if (result !== 0)
        throw new InferyardError(
          "RUN_FAILED",
          `NVRTC ${this.version} does not compile the program: ${this.#readLog(program, result)}`,
        );
      const code = new Uint8Array(this.#readSize("nvrtcGetCUBINSize", this.#calls.codeSize, program));
      this.#check("nvrtcGetCUBIN", this.#calls.code(program, code));
      return code;
    } finally {
      this.#calls.destroy(handle);
    }
  }

  #readLog(program: bigint, result: number): string {
    const log = new Uint8Array(this.#readSize("nvrtcGetProgramLogSize", this.#calls.logSize, program));
    this.#check("nvrtcGetProgramLog", this.#calls.log(program, log));
    const text = Buffer.from(log).toString("utf8").replaceAll("\0", "").trim();
    const first = text.split("\n").slice(0, 3).join(" ");
    return first === "" ? (this.#calls.words(result) ?? `error ${result}`) : first;
  }

  #readSize(name: string, call: (program: bigint, into: BigUint64Array) => number, program: bigint): number {
    const size = new BigUint64Array(1);
    this.#check(name, call(program, size));
    return Number(size[0]);
  }

  #check(name: string, result: number): void {
    if (result !== 0) throw new InferyardError("RUN_FAILED", `${name}: ${this.#calls.words(result) ?? `error ${result}`}`);
  }
}
