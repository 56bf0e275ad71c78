/**
 * Call frame information of functions, with which debuggers, profilers and unwinders find the callers of machine code: the contents of .eh_frame and
 * .eh_frame_hdr. Sources: DWARF 5, section 6.4; Linux Standard Base Core 5.0, sections 10.6.1 and 10.6.2.
 */
import { registers } from "../../../engine/codegen/x64/assembler/operands.ts";
import type { StackChange } from "../../../engine/codegen/x64/index.ts";

/** A function in the address space of its object. */
export interface UnwoundFunction {
  readonly address: number;
  readonly byteLength: number;
  readonly stackChanges: readonly StackChange[];
}

/** Numbers of the integer registers in DWARF, by their number in the encoding of instructions (System V ABI for x86-64, figure 3.36). */
const dwarfNumbers = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];
const stackPointer = 7;
const returnAddress = 16;

const callFrame = {
  advance1: 0x02,
  advance2: 0x03,
  advance4: 0x04,
  offsetOf: 0x80,
  restoreOf: 0xc0,
  define: 0x0c,
  cfaOffset: 0x0e,
};
/** Pointers relative to their own position, as signed integers of 32 bits. */
const relativePointer = 0x1b;
/** Pointers relative to the beginning of .eh_frame_hdr, as signed integers of 32 bits. */
const tablePointer = 0x3b;
const uint32Count = 0x03;

/** The bytes of both sections. `headerAddress`, `framesAddress`: addresses of .eh_frame_hdr and .eh_frame. */
export function unwindTables(
  functions: readonly UnwoundFunction[],
  { headerAddress, framesAddress }: { readonly headerAddress: number; readonly framesAddress: number },
): { readonly header: Uint8Array; readonly frames: Uint8Array } {
  const frames: number[] = entry([
    ...int32(0), // a common information entry
    1, // version
    ...new TextEncoder().encode("zR\0"),
    1, // code alignment
    0x78, // data alignment: -8
    returnAddress,
    1, // bytes of augmentation data
    relativePointer,
    callFrame.define, // the frame of the caller begins 8 bytes above the stack pointer
    stackPointer,
    8,
    callFrame.offsetOf | returnAddress, // and the return address is below it
    1,
  ]);
  const table: number[] = [];
  const sorted = functions.toSorted((a, b) => a.address - b.address);
  for (const { address, byteLength, stackChanges } of sorted) {
    const at = frames.length;
    const [idAt, addressAt] = [at + 4, at + 8];
    table.push(...int32(address - headerAddress), ...int32(framesAddress + at - headerAddress));
    frames.push(
      ...entry([
        ...int32(idAt),
        ...int32(address - (framesAddress + addressAt)),
        ...int32(byteLength),
        0,
        ...program(stackChanges),
      ]),
    );
  }
  frames.push(...int32(0)); // end
  const countAt = 8;
  const header = [
    1,
    relativePointer,
    uint32Count,
    tablePointer,
    ...int32(framesAddress - headerAddress - 4),
    ...int32(sorted.length),
  ];
  if (header.length !== countAt + 4) throw new RangeError("the header of the unwind table has the wrong size");
  return { header: Uint8Array.from([...header, ...table]), frames: Uint8Array.from(frames) };
}

/** Bytes of .eh_frame_hdr for a number of functions. */
export function unwindHeaderBytes(functions: number): number {
  return 12 + 8 * functions;
}

/** Instructions that follow the stack pointer through a function, from 8 bytes below the frame of its caller at its beginning. */
function program(changes: readonly StackChange[]): number[] {
  const bytes: number[] = [];
  let at = 0;
  let depth = 8;
  for (const change of changes) {
    if (change.at > at) bytes.push(...advance(change.at - at));
    at = change.at;
    depth += change.bytes;
    bytes.push(callFrame.cfaOffset, ...unsignedLeb128(depth));
    if (change.saved !== undefined) bytes.push(callFrame.offsetOf | getDwarfNumber(change.saved), ...unsignedLeb128(depth / 8));
    if (change.restored !== undefined) bytes.push(callFrame.restoreOf | getDwarfNumber(change.restored));
  }
  return bytes;
}

function advance(distance: number): number[] {
  if (distance < 0x40) return [0x40 | distance];
  if (distance < 0x100) return [callFrame.advance1, distance];
  if (distance < 0x10000) return [callFrame.advance2, distance & 255, distance >> 8];
  return [callFrame.advance4, ...int32(distance)];
}

function getDwarfNumber(register: NonNullable<StackChange["saved"]>): number {
  return dwarfNumbers[registers[register]] ?? 0;
}

/** An entry with its length, padded by instructions without effect to a multiple of 8 bytes. */
function entry(content: readonly number[]): number[] {
  const padding = Array<number>(7 - ((content.length + 3) % 8)).fill(0);
  return [...int32(content.length + padding.length), ...content, ...padding];
}

function unsignedLeb128(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

function int32(value: number): number[] {
  return [value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255];
}
