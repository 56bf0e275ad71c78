/** An entry of the kernel registry. */
import type { KernelLevel, X64Level } from "./simd-levels.ts";

/** Implementation of a kernel, or none. */
export type KernelImplementation =
  /** Generated WebAssembly; weights are packed for it. */
  | { readonly kind: "wasm" }
  /** Generated x86-64 machine code, on the same packed weights as WebAssembly and with the same bits as result. */
  | { readonly kind: "machine"; readonly level: X64Level }
  /** Plain TypeScript, which reads weights as the file has them. */
  | { readonly kind: "scalar" }
  /** All kernels of llama.cpp together, which the backend `llamacpp` calls. */
  | { readonly kind: "llama" }
  /** It is not built. `reason`: a sentence without a full stop. */
  | { readonly kind: "none"; readonly reason: string };

/** A kernel that multiplies quantized weights [rows, columns] with activations. Plain data. */
export interface KernelEntry {
  /** Unique id, such as "Q4_K_Wasm". */
  readonly id: string;
  /** Formats of weights that it multiplies, under their GGUF names; "any": all that llama.cpp has. */
  readonly formats: readonly string[] | "any";
  readonly level: KernelLevel;
  readonly implementation: KernelImplementation;
  /** Columns, which are K of the product, must be a multiple of this. */
  readonly columnMultiple: number;
  /** Rows, which are N of the product, must be a multiple of this. Default: 1. */
  readonly rowMultiple?: number;
  /** Columns whose activations share a scale when the kernel quantizes them; 1 if it does not. */
  readonly activationGroup: number;
  /**
   * Largest difference that its self-test accepts, as a fraction of sqrt(sum((weight * largest activation of its group)^2)): five standard deviations of the
   * error from rounding the activations.
   */
  readonly tolerance: number;
}

/** Result of the known-answer self-test of a kernel on this machine. */
export type KernelSelfTest =
  | { readonly passed: true; readonly milliseconds: number }
  /** `problem`: what it computed and what is right. */
  | { readonly passed: false; readonly problem: string; readonly milliseconds: number };

/** The weights that a kernel is selected for. */
export interface KernelRequest {
  /** Name of the format: a GGUF type, or packed blocks such as "int4 of 32". */
  readonly format: string;
  /** Rows as stored: N of the product. */
  readonly rows: number;
  /** Columns as stored: K of the product. */
  readonly columns: number;
}
