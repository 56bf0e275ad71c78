/**
 * The Node-API addon that opens and calls machine code, as an ELF shared object. It is the one native module that Node.js loads; objects with kernels are opened and
 * closed by it, so that their memory is freed with the model, which Node.js never does for addons of the main thread. Its functions take typed arrays and trust their
 * contents: `LoaderAddon` alone calls them.
 */
import type { Label } from "../../../engine/codegen/x64/assembler/code-buffer.ts";
import { ObjectAssembler, memoryAt } from "./object-assembler.ts";
import type { ObjectFunction } from "./object-function.ts";
import { writeSharedObject } from "./shared-object.ts";

/** The exported functions of the addon, as JavaScript sees them. `words`: integers of 64 bits that a function reads and writes. */
export interface LoaderAddon {
  /** Opens the object at a path of bytes that end with a zero. Sets words to its handle and the address of the symbol `kernels`. Returns the error of the loader, if any. */
  open(words: BigUint64Array, path: Uint8Array): string | undefined;
  /** Closes the object whose handle the first word is. None of its functions may run or be called afterwards. */
  close(words: BigUint64Array): void;
  /** Makes a function of JavaScript of the callback whose address the first word is. It gets the address of the elements of `data`, which the caller keeps alive. */
  bind(words: BigUint64Array, data: Uint32Array): () => void;
  /** Sets the first word to the address of the first element of an array, which may be in shared memory. */
  locate(words: BigUint64Array, array: Uint8Array): void;
  /** The instruction cpuid: takes eax and ecx from the first two elements and sets all four to eax, ebx, ecx and edx. */
  cpuid(registers: Uint32Array): void;
  /** The instruction xgetbv for the extended control register 0: sets two elements to eax and edx. */
  xgetbv(registers: Uint32Array): void;
}

/** The symbol in objects with kernels whose address `open` returns. */
export const kernelsSymbol = "inferyard_kernels";

/** Stack of a callback, from the stack pointer on: an argument of Node-API, the number of arguments, both arguments, and a result. */
const stackBytes = 0x40;
const [argumentCount, firstArgument, result] = [0x10, 0x18, 0x28];
const pointers = ["r12", "r13"] as const;
const bindNow = 2;

/** The bodies of the callbacks; `end` is the label behind them. rbx is the environment; r12 and r13 are the addresses of the elements of both arguments. They set rax to the returned value. */
const bodies: Readonly<Record<keyof LoaderAddon, (asm: ObjectAssembler, end: Label) => void>> = {
  open(asm, end) {
    asm.move("rdi", "r13");
    asm.loadImmediate("rsi", bindNow);
    asm.callImport("dlopen");
    asm.store(memoryAt("r12", 0), "rax");
    asm.ifNotZero("rax", () => {
      asm.move("rdi", "rax");
      asm.loadLocalAddress("rsi", "text_kernels");
      asm.callImport("dlsym");
      asm.store(memoryAt("r12", 8), "rax");
      // The object is closed if its thread ends first.
      asm.move("rdi", "rbx");
      asm.loadImportAddress("rsi", "dlclose");
      asm.load("rdx", memoryAt("r12", 0));
      asm.callImport("napi_add_env_cleanup_hook");
      asm.loadImmediate("rax", 0);
      asm.jump(end);
    });
    asm.callImport("dlerror");
    asm.move("rsi", "rax");
    asm.move("rdi", "rbx");
    asm.loadImmediate("rdx", -1); // up to the zero byte
    asm.address("rcx", memoryAt("rsp", result));
    asm.callImport("napi_create_string_utf8");
    asm.load("rax", memoryAt("rsp", result));
  },
  close(asm) {
    asm.move("rdi", "rbx");
    asm.loadImportAddress("rsi", "dlclose");
    asm.load("rdx", memoryAt("r12", 0));
    asm.callImport("napi_remove_env_cleanup_hook");
    asm.load("rdi", memoryAt("r12", 0));
    asm.callImport("dlclose");
    asm.loadImmediate("rax", 0);
  },
  bind(asm) {
    asm.move("rdi", "rbx");
    asm.loadImmediate("rsi", 0);
    asm.loadImmediate("rdx", 0);
    asm.load("rcx", memoryAt("r12", 0));
    asm.move("r8", "r13");
    asm.address("r9", memoryAt("rsp", result));
    asm.callImport("napi_create_function");
    asm.load("rax", memoryAt("rsp", result));
  },
  locate(asm) {
    asm.store(memoryAt("r12", 0), "r13");
    asm.loadImmediate("rax", 0);
  },
  cpuid(asm) {
    asm.load("rax", memoryAt("r12", 0), 32);
    asm.load("rcx", memoryAt("r12", 4), 32);
    asm.cpuid();
    for (const [index, register] of (["rax", "rbx", "rcx", "rdx"] as const).entries())
      asm.store(memoryAt("r12", 4 * index), register, 32);
    asm.loadImmediate("rax", 0);
  },
  xgetbv(asm) {
    asm.loadImmediate("rcx", 0);
    asm.xgetbv();
    asm.store(memoryAt("r12", 0), "rax", 32);
    asm.store(memoryAt("r12", 4), "rdx", 32);
    asm.loadImmediate("rax", 0);
  },
};

/** Writes the addon. Its bytes are always the same. */
export function writeLoaderAddon(): Uint8Array<ArrayBuffer> {
  const names = Object.keys(bodies) as (keyof LoaderAddon)[];
  const texts = [...names.map((name) => [name, name] as const), ["kernels", kernelsSymbol] as const];
  return writeSharedObject([
    initializer(names),
    ...names.map(callback),
    ...texts.map(([name, text]): ObjectFunction => ({ name: `text_${name}`, code: new TextEncoder().encode(`${text}\0`) })),
  ]).bytes;
}

/** The function that Node.js calls for each thread that loads the addon: it adds the callbacks to the exports. */
function initializer(names: readonly string[]): ObjectFunction {
  const asm = new ObjectAssembler("napi_register_module_v1");
  asm.push("rbx");
  asm.push("r12");
  asm.add("rsp", -0x18);
  asm.move("rbx", "rdi");
  asm.move("r12", "rsi");
  for (const name of names) {
    asm.move("rdi", "rbx");
    asm.loadImmediate("rsi", 0);
    asm.loadImmediate("rdx", 0);
    asm.loadLocalAddress("rcx", `call_${name}`);
    asm.loadImmediate("r8", 0);
    asm.address("r9", memoryAt("rsp", 8));
    asm.callImport("napi_create_function");
    asm.move("rdi", "rbx");
    asm.move("rsi", "r12");
    asm.loadLocalAddress("rdx", `text_${name}`);
    asm.load("rcx", memoryAt("rsp", 8));
    asm.callImport("napi_set_named_property");
  }
  asm.move("rax", "r12");
  asm.add("rsp", 0x18);
  asm.pop("r12");
  asm.pop("rbx");
  asm.return();
  return asm.function;
}

/** A callback of JavaScript: finds the elements of up to two typed arrays, and runs a body. Without a typed array it returns undefined. */
function callback(name: keyof LoaderAddon): ObjectFunction {
  const asm = new ObjectAssembler(`call_${name}`);
  const saved = ["rbx", ...pointers] as const;
  for (const register of saved) asm.push(register);
  asm.add("rsp", -stackBytes);
  asm.move("rbx", "rdi");
  asm.loadImmediate("rax", pointers.length);
  asm.store(memoryAt("rsp", argumentCount), "rax");
  asm.address("rdx", memoryAt("rsp", argumentCount));
  asm.address("rcx", memoryAt("rsp", firstArgument));
  asm.loadImmediate("r8", 0);
  asm.loadImmediate("r9", 0);
  asm.callImport("napi_get_cb_info");
  for (const [index, pointer] of pointers.entries()) {
    asm.loadImmediate("rax", 0);
    asm.store(memoryAt("rsp", 0), "rax"); // no byte offset
    asm.store(memoryAt("rsp", result), "rax");
    asm.move("rdi", "rbx");
    asm.load("rsi", memoryAt("rsp", firstArgument + 8 * index));
    asm.loadImmediate("rdx", 0);
    asm.loadImmediate("rcx", 0);
    asm.address("r8", memoryAt("rsp", result));
    asm.loadImmediate("r9", 0);
    asm.callImport("napi_get_typedarray_info");
    asm.load(pointer, memoryAt("rsp", result));
  }
  asm.loadImmediate("rax", 0);
  const end = asm.label();
  asm.ifNotZero(pointers[0], () => bodies[name](asm, end));
  asm.bind(end);
  asm.add("rsp", stackBytes);
  for (const register of saved.toReversed()) asm.pop(register);
  asm.return();
  return asm.function;
}
