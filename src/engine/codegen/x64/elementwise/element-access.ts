/** Loads and stores of tensor elements as vectors of 32-bit lanes. */
import type { ElementwiseType } from "../../wasm/kernels/elementwise/request.ts";
import type { MaskRegister, Memory, Vector } from "../assembler/operands.ts";
import type { VectorUnit } from "../functions/vector-unit.ts";

/** Types whose elements are lanes as they are. */
const wholeLanes: ReadonlySet<ElementwiseType> = new Set(["float32", "int32", "uint32"]);
/** The mask register that elements of bool change. */
const isTrue: MaskRegister = 2;
const allOnes = 0xff;

/** Instructions that widen elements of memory to lanes, and narrow lanes to memory, in EVEX. */
const widened = {
  float16: "vcvtph2ps",
  int8: "vpmovsxbd",
  uint8: "vpmovzxbd",
  bool: "vpmovzxbd",
  int16: "vpmovsxwd",
  uint16: "vpmovzxwd",
} as const;
const narrowed = { int8: "vpmovdb", uint8: "vpmovdb", int16: "vpmovdw", uint16: "vpmovdw" } as const;

function isNarrow(type: ElementwiseType): type is keyof typeof widened {
  return Object.hasOwn(widened, type);
}

/** Whether elements of a type can be lanes: one that repeats (`stride` 0) only if it is a whole lane. */
export function hasLanes(type: ElementwiseType, stride: number, hasEvex: boolean): boolean {
  return wholeLanes.has(type) || (hasEvex && isNarrow(type) && stride !== 0);
}

/** Generates the load of a vector of elements, all or those of the tail; with stride 0 of one element for all. Lanes after the tail are 0. */
export function loadElementVector(
  unit: VectorUnit,
  type: ElementwiseType,
  to: Vector,
  from: Memory,
  how: "all" | "tail" | "one",
): void {
  const { asm } = unit;
  if (how === "one") asm.vector("vbroadcastss", to, from);
  else if (!isNarrow(type)) {
    if (how === "all") asm.vector("vmovups", to, from);
    else unit.loadTail(to, from);
  } else {
    asm.vector(widened[type], to, from, how === "tail" ? { mask: unit.tailMask, zeroing: true } : {});
    if (type !== "bool") return;
    asm.vector("vptestmd", isTrue, to, to);
    asm.vector("vpternlogd", to, to, to, allOnes, { mask: isTrue, zeroing: true });
  }
}

/** Generates the store of a vector of elements, all or those of the tail. May change the vector. */
export function storeElementVector(unit: VectorUnit, type: ElementwiseType, to: Memory, from: Vector, isTail: boolean): void {
  const { asm } = unit;
  const form = isTail ? { mask: unit.tailMask } : {};
  if (!isNarrow(type)) {
    if (isTail) unit.storeTail(to, from);
    else asm.vector("vmovupsStore", to, from);
  } else if (type === "float16") asm.vector("vcvtps2ph", to, from, 0, form);
  else if (type === "bool") {
    asm.vector("vpsrld", from, from, 31); // lanes have all bits set or clear
    asm.vector("vpmovdb", to, from, form);
  } else asm.vector(narrowed[type], to, from, form);
}
