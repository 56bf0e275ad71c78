/** The columns of the tables of vector instructions. */

/**
 * Operands of an instruction, in the order in which kernels pass them, by the field of the encoding that holds each: `r` ModRM.reg, `v` VEX.vvvv, `m`
 * ModRM.rm (a vector register or memory), `M` ModRM.rm (memory alone; a second `r` there: a register alone), `g` ModRM.rm (an integer register or memory), `i` an immediate of 8 bits, `4` a
 * vector register in the upper half of an immediate, `k` a mask register in ModRM.reg, `q` one in VEX.vvvv, `p` one in ModRM.rm, `d` an integer register
 * in ModRM.reg, `x` lanes of memory with a vector of indices.
 */
export type Form =
  | "rvm"
  | "rvM"
  | "rvr"
  | "rm"
  | "rM"
  | "mr"
  | "Mr"
  | "Mvr"
  | "vmi"
  | "rvmi"
  | "rmi"
  | "mri"
  | "rvm4"
  | "kvm"
  | "kvmi"
  | "rg"
  | "gr"
  | "gri"
  | "rvg"
  | "rvgi"
  | "dm"
  | "rx"
  | "xr"
  | "rxv"
  | "kqp"
  | "kp"
  | "kpi"
  | "kg"
  | "dp"
  | "Mk";

/**
 * Size of the operand in ModRM.rm, which EVEX multiplies displacements of 8 bits by. `full`: a whole vector, or one 32-bit element that is copied to all
 * lanes; `full64`: the same with 64-bit elements; `vector`: a whole vector without the copies; `half`, `quarter` and `eighth` of a vector; `half32`: half a
 * vector or one 32-bit element; a number: so many bytes.
 */
export type OperandSize = "full" | "full64" | "vector" | "half" | "half32" | "quarter" | "eighth" | 1 | 2 | 4 | 8 | 16 | 32;

/** Columns that few instructions have. */
export interface RowOptions {
  /** The one encoding that the instruction has. Default: VEX and EVEX. `vnni`: both, but VEX needs AVX-VNNI. */
  readonly only?: "vex" | "evex" | "vnni";
  /** Name in EVEX, where it differs. */
  readonly evexName?: string;
  /** Name in the manual, where the key of the table differs, because one name has two forms. */
  readonly mnemonic?: string;
  /** W in VEX, where it differs. */
  readonly vexW?: 0;
  /** Extension of the opcode in ModRM.reg. */
  readonly extension?: number;
  /** The one width of vectors, in bits. Default: 128 and 256, in EVEX also 512. */
  readonly bits?: 128 | 256;
  /** The smallest width. Default: 128. */
  readonly minBits?: 256 | 512;
}

/** Opcode map (1: 0F, 2: 0F38, 3: 0F3A), mandatory prefix (0: none, 1: 66, 2: F3, 3: F2), W, opcode, operands, size of the memory operand. */
export type Row = readonly [
  map: 1 | 2 | 3,
  prefix: 0 | 1 | 2 | 3,
  w: 0 | 1,
  code: number,
  form: Form,
  tuple: OperandSize,
  options?: RowOptions,
];
