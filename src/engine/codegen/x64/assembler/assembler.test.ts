import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Assembler } from "./assembler.ts";
import type { Row, OperandSize } from "./instruction-rows.ts";
import type { AnyMemory, Memory, Register, VectorBits } from "./operands.ts";
import { RegisterPool } from "./register-pool.ts";
import { type VectorOptions, memoryBytes } from "./vector-encoding.ts";
import { type InstructionName, vectorInstructions } from "./vector-instructions.ts";

/** An instruction, and what binutils' disassembler says of its bytes in Intel's syntax. */
interface Case {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const widths: readonly VectorBits[] = [128, 256, 512];
const immediate = 0x25;
/** No lane is written by these under a mask. */
const takesNoMask = new Set(["vmovntps", "vmovhlps", "vmovlhps", "vpsadbw", "vpslldq", "vpsrldq", "vmovd", "vmovq"]);
const sizeNames: Readonly<Record<number, string>> = {
  1: "BYTE",
  2: "WORD",
  4: "DWORD",
  8: "QWORD",
  16: "XMMWORD",
  32: "YMMWORD",
  64: "ZMMWORD",
};
/** Instructions whose result has half the width of their source. */
const narrowing = new Set(["vcvtneps2bf16"]);
const places: readonly Memory[] = [
  { base: "rax", displacement: 0 },
  { base: "rbp", displacement: 0 },
  { base: "r13", displacement: 0, index: "r9", scale: 4 },
  { base: "rsp", displacement: 64 },
  { base: "r12", displacement: -128 },
  { base: "rdi", displacement: 4, index: "rbp", scale: 8 },
  { base: "r14", displacement: 127 * 64, index: "rax", scale: 1 },
  { base: "r15", displacement: -0x12345678, index: "r12", scale: 2 },
  { base: "rbx", displacement: 128 * 64 },
  { base: "rcx", displacement: -128 * 64 },
  { base: "rdx", displacement: 65 },
];

const vector = (number: number, bits: number): string => `${bits === 512 ? "z" : bits === 256 ? "y" : "x"}mm${number}`;
const doubleWord = (register: Register): string => (/\d/u.test(register) ? `${register}d` : register.replace("r", "e"));
const hex = (value: number): string => `0x${value.toString(16)}`;

function address(memory: AnyMemory, bits: number): string {
  if ("constant" in memory) throw new TypeError("constants are tested by running code");
  const { base, displacement } = memory;
  const index = "indices" in memory ? vector(memory.indices, bits) : memory.index;
  const sum = index === undefined ? base : `${base}+${index}*${memory.scale ?? 1}`;
  const isBare = displacement === 0 && !["rbp", "r13"].includes(base);
  return `[${sum}${isBare ? "" : `${displacement < 0 ? "-" : "+"}${hex(Math.abs(displacement))}`}]`;
}

/** Width of the operand in ModRM.rm. */
function operandBits(tuple: OperandSize, bits: number): number {
  if (typeof tuple === "number") return Math.max(128, tuple * 8);
  const parts: Partial<Record<OperandSize, number>> = { half: 2, half32: 2, quarter: 4, eighth: 8 };
  return Math.max(128, bits / (parts[tuple] ?? 1));
}

/** One instruction with its operands in registers from `numbers`, or with memory. */
function instruction(
  name: InstructionName,
  numbers: readonly number[],
  options: VectorOptions & { bits: VectorBits },
  memory?: AnyMemory,
): Case {
  const [, , , , form, tuple, rowOptions = {}]: Row = vectorInstructions[name];
  const { bits, mask = 0, zeroing = false, broadcast = false } = options;
  const integers = (["rcx", "r10", "rsi"] as const)[numbers[0]! % 3]!;
  const given: unknown[] = [];
  const text: string[] = [];
  form.split("").forEach((kind, index) => {
    const number = numbers[index % numbers.length]!;
    const isOperand = "mMx".includes(kind) || (kind === "g" && memory !== undefined);
    if (kind === "i") {
      given.push(immediate);
      text.push(hex(immediate));
    } else if ("kqp".includes(kind)) {
      given.push(number % 8);
      text.push(`k${number % 8}`);
    } else if (isOperand && memory !== undefined) {
      const size = memoryBytes(tuple, bits, broadcast);
      given.push(memory);
      text.push(`${sizeNames[size]} ${broadcast ? "BCST" : "PTR"} ${address(memory, bits)}`);
    } else if (kind === "g" || kind === "d") {
      given.push(integers);
      const isWide = name.startsWith("vmovq") || name.startsWith("kmovq") || name === "vcvttss2si" || name === "vcvtsi2ss";
      text.push(isWide && !name.startsWith("vcvt") ? integers : doubleWord(integers));
    } else {
      given.push(number);
      const own = narrowing.has(rowOptions.mnemonic ?? name) && kind === "r" ? Math.max(128, bits / 2) : bits;
      text.push(vector(number, kind === "m" ? operandBits(tuple, bits) : own));
    }
  });
  if (mask > 0) text[0] += `{k${mask}}${zeroing ? "{z}" : ""}`;
  const assembler = new Assembler({ bits: 512, hasEvex: true });
  const call = (assembler.vector as (name: string, ...operands: unknown[]) => void).bind(assembler);
  call(name, ...given, options);
  const bytes = assembler.code;
  const isEvex = bytes[0] === 0x62;
  const mnemonic = isEvex && rowOptions.evexName !== undefined ? rowOptions.evexName : (rowOptions.mnemonic ?? name);
  return { bytes, text: `${mnemonic} ${text.join(",")}` };
}

/** Cases of one row: each width in low and high registers, memory in several forms, masks and broadcast. `isWhole`: with all forms of memory. */
function casesOf(name: InstructionName, isWhole: boolean): Case[] {
  const [, , , , form, tuple, options = {}]: Row = vectorInstructions[name];
  const { only, bits: oneWidth, mnemonic = name } = options;
  const minBits: VectorBits = options.minBits ?? 128;
  const mine = widths
    .filter((bits) => (oneWidth === undefined ? bits >= minBits : bits === oneWidth))
    .filter((bits) => only !== "vex" || bits < 512);
  const cases: Case[] = [];
  const hasVectors = (/[rvmM]/u.test(form) && !form.startsWith("k")) || form.startsWith("kv");
  const hasEvex = only !== "vex" && hasVectors;
  const isLanes = form.includes("x");
  const needsMemory = form.includes("M") || isLanes;
  const memories = (bits: VectorBits, high: boolean): AnyMemory[] => {
    if (isLanes)
      return places
        .slice(0, isWhole ? undefined : 3)
        .map(({ base, displacement }) => ({ base, displacement, indices: high ? 22 : 6, scale: 4 }));
    const size = memoryBytes(tuple, bits, false);
    const own = places.map((place, index) =>
      index === 4 || index === 6 ? { ...place, displacement: (place.displacement / 64) * size } : place,
    );
    return isWhole ? own : [own[(name.length + bits / 128) % own.length]!, own[(name.length * 3 + bits / 64 + 4) % own.length]!];
  };
  for (const bits of mine) {
    const masks = isLanes && only === "evex" ? { mask: 3 } : {};
    const registerSets = hasEvex
      ? [
          [1, 2, 3, 4],
          [9, 14, 13, 11],
          [31, 18, 27, 22],
        ]
      : [
          [1, 2, 3, 4],
          [9, 14, 13, 11],
        ];
    for (const [index, set] of registerSets.entries()) {
      if (!needsMemory) cases.push(instruction(name, set, { bits }));
      if (/[mMx]/u.test(form) && form !== "dm")
        for (const memory of memories(bits, index === 2)) cases.push(instruction(name, set, { bits, ...masks }, memory));
    }
    if (!hasEvex || isLanes || takesNoMask.has(mnemonic) || form.startsWith("d") || form.includes("g")) continue;
    const memory = memories(bits, true).at(-1)!;
    const takesZeroing = !form.startsWith("k") && !form.startsWith("M");
    const isStore = form.startsWith("m");
    if (!needsMemory) cases.push(instruction(name, [17, 24, 30, 7], { bits, mask: 5, zeroing: takesZeroing }));
    if (form.includes("m") || form.includes("M"))
      cases.push(instruction(name, [6, 15, 2, 7], { bits, mask: 2, zeroing: takesZeroing && !isStore }, memory));
    if (typeof tuple === "string" && ["full", "full64", "half32"].includes(tuple) && true) {
      const element = { base: "r9", displacement: 4 * 126, index: "r11", scale: 8 } as const;
      if (element.displacement % memoryBytes(tuple, bits, true) === 0)
        cases.push(instruction(name, [5, 20, 8, 7], { bits, broadcast: true, mask: 1 }, element));
    }
  }
  return cases;
}

/** Dot products of bytes and words in VEX, for processors without EVEX. */
function narrowDotCases(): Case[] {
  return (["vpdpbusd", "vpdpwssd"] as const).map((name) => {
    const asm = new Assembler({ bits: 256, hasEvex: false });
    asm.vector(name, 9, 2, { base: "r8", displacement: 32 });
    return { bytes: asm.code, text: `${name} ymm9,ymm2,YMMWORD PTR [r8+0x20]` };
  });
}

/** Instructions of integer registers. */
function integerCases(): Case[] {
  const made = (text: string, emit: (asm: Assembler) => void): Case => {
    const asm = new Assembler();
    emit(asm);
    return { bytes: asm.code, text };
  };
  const all: Register[] = ["rax", "rbx", "rbp", "rdi", "r8", "r12", "r13", "r15"];
  const cases = all.flatMap((register, index) => {
    const other = all[(index + 3) % all.length]!;
    const place = places[(index * 2) % places.length]!;
    return [
      made(`mov ${register},${other}`, (asm) => asm.move(register, other)),
      made(`mov ${register},QWORD PTR ${address(place, 64)}`, (asm) => asm.load(register, place)),
      made(`mov ${doubleWord(register)},DWORD PTR ${address(place, 64)}`, (asm) => asm.load(register, place, 32)),
      made(`mov QWORD PTR ${address(place, 64)},${register}`, (asm) => asm.store(place, register)),
      made(`mov DWORD PTR ${address(place, 64)},${doubleWord(register)}`, (asm) => asm.store(place, register, 32)),
      made(`lea ${register},${address(place, 64)}`, (asm) => asm.address(register, place)),
      made(`movzx ${register},BYTE PTR ${address(place, 64)}`, (asm) => asm.loadExtended("movzx8", register, place)),
      made(`movzx ${register},WORD PTR ${address(place, 64)}`, (asm) => asm.loadExtended("movzx16", register, place)),
      made(`movsx ${register},BYTE PTR ${address(place, 64)}`, (asm) => asm.loadExtended("movsx8", register, place)),
      made(`movsx ${register},WORD PTR ${address(place, 64)}`, (asm) => asm.loadExtended("movsx16", register, place)),
      made(`movsxd ${register},DWORD PTR ${address(place, 64)}`, (asm) => asm.loadExtended("movsxd", register, place)),
      made(`mov ${register},0xfffffffffffffffe`, (asm) => asm.loadImmediate(register, -2)),
      made(`movabs ${register},0x123456789a`, (asm) => asm.loadImmediate(register, 0x123456789a)),
      ...(["add", "or", "and", "sub", "xor", "cmp"] as const).flatMap((operation) => [
        made(`${operation} ${register},${other}`, (asm) => asm.integer(operation, register, other)),
        made(`${operation} ${register},QWORD PTR ${address(place, 64)}`, (asm) => asm.integer(operation, register, place)),
        made(`${operation} ${register},0x7f`, (asm) => asm.integer(operation, register, 127)),
        ...(register === "rax"
          ? []
          : [made(`${operation} ${register},0x12345`, (asm) => asm.integer(operation, register, 0x12345))]),
      ]),
      made(`imul ${register},${other},0x1234`, (asm) => asm.multiply(register, other, 0x1234)),
      made(`imul ${register},${other}`, (asm) => asm.multiply(register, register, other)),
      made(`shl ${register},0x6`, (asm) => asm.shift("shl", register, 6)),
      made(`shr ${register},0x6`, (asm) => asm.shift("shr", register, 6)),
      made(`sar ${register},0x6`, (asm) => asm.shift("sar", register, 6)),
      made(`neg ${register}`, (asm) => asm.negate(register)),
      made(`test ${register},${other}`, (asm) => asm.test(register, other)),
      made(`bzhi ${register},${other},r9`, (asm) => asm.clearHighBits(register, other, "r9")),
      made(`cmovb ${register},${other}`, (asm) => asm.moveIf("b", register, other)),
      made(`push ${register}`, (asm) => asm.push(register)),
      made(`pop ${register}`, (asm) => asm.pop(register)),
      made(`prefetcht0 BYTE PTR ${address(place, 64)}`, (asm) => asm.prefetch("all", place)),
      made(`prefetchnta BYTE PTR ${address(place, 64)}`, (asm) => asm.prefetch("nontemporal", place)),
    ];
  });
  return cases;
}

const names = Object.keys(vectorInstructions) as InstructionName[];
/** All cases, or some of each row. */
const allCases = (isWhole: boolean): Case[] => [
  ...names.flatMap((name, row) => casesOf(name, isWhole).filter((_, index) => isWhole || (index + row) % 7 === 0)),
  ...narrowDotCases(),
  ...integerCases(),
];
const bytesText = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Bytes from one instruction to the next, filled with instructions of one byte. */
const slotBytes = 16;
const noOperation = 0x90;

/** What objdump says of each instruction. */
function disassembled(cases: readonly Case[]): (string | undefined)[] {
  const folder = mkdtempSync(join(tmpdir(), "assembler-"));
  try {
    const file = join(folder, "code.bin");
    const code = new Uint8Array(cases.length * slotBytes).fill(noOperation);
    cases.forEach(({ bytes }, index) => code.set(bytes, index * slotBytes));
    writeFileSync(file, code);
    const options = ["-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--insn-width=16"];
    const { stdout } = spawnSync("objdump", [...options, file], { encoding: "utf8", maxBuffer: 2 ** 28 });
    const texts = new Map<number, string>();
    for (const line of stdout.split("\n")) {
      const [, offset, text] = /^\s*([0-9a-f]+):\t[^\t]*\t(.*)$/u.exec(line) ?? [];
      // How often one element is repeated follows from the width, and the encoding from the bytes.
      if (offset !== undefined && text !== undefined)
        texts.set(
          Number.parseInt(offset, 16),
          text
            .trim()
            .replaceAll(/\s+/gu, " ")
            .replaceAll(/\{1to\d+\}|^\{e?vex\} /gu, ""),
        );
    }
    return cases.map((_, index) => texts.get(index * slotBytes));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the assembler", () => {
  it("encodes as binutils has disassembled", async () => {
    const lines = allCases(false).map(({ bytes, text }) => `${bytesText(bytes)} ${text}`);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./assembler-goldens.txt");
  });

  it("encodes every instruction, register and form of memory as binutils disassembles it", ({ skip }) => {
    const found = spawnSync("objdump", ["--version"], { encoding: "utf8" });
    skip(found.status !== 0, "objdump of binutils is not installed");
    const cases = allCases(true);
    expect(disassembled(cases)).toEqual(cases.map(({ text }) => text));
  });

  it("refuses what the processor does not have", () => {
    const narrow = new Assembler({ bits: 256, hasEvex: false });
    expect(() => narrow.vector("vaddps", 0, 1, 16)).toThrow(RangeError);
    expect(() => narrow.vector("vscalefps", 0, 1, 2)).toThrow(RangeError);
    expect(() => narrow.vector("vaddps", 0, 1, 2, { mask: 1 })).toThrow(RangeError);
    expect(() => new Assembler({ bits: 512, hasEvex: true }).vector("vblendvps", 0, 1, 2, 3)).toThrow(RangeError);
    expect(() => new Assembler({ bits: 512, hasEvex: true }).vector("vpermps", 0, 1, 2, { bits: 128 })).toThrow(RangeError);
  });

  it("fills in jumps and places of constants", () => {
    const asm = new Assembler();
    const end = asm.label();
    const start = asm.here();
    asm.jump(end, "ge");
    asm.vector("vmovups", 0, asm.floats(1, 2, 3, 4, 5, 6, 7, 8));
    asm.vector("vpermilps", 1, asm.floats(1, 2, 3, 4, 5, 6, 7, 8), 0);
    asm.jump(start);
    asm.bind(end);
    asm.return();
    const { code } = asm;
    const view = new DataView(code.buffer);
    expect(view.getInt32(2, true)).toBe(asm.length - 4 - 6);
    expect(code.length).toBe(64 + 32);
    expect(view.getInt32(6 + 4, true)).toBe(64 - (6 + 8));
    expect(view.getInt32(14 + 5, true)).toBe(64 - (14 + 10)); // an immediate follows the displacement
    expect(view.getInt8(24 + 1)).toBe(-26);
    const open = new Assembler();
    open.jump(open.label());
    expect(() => open.code).toThrow(RangeError);
    expect(() => asm.bind(end)).toThrow(RangeError);
  });
});

describe("a pool of registers", () => {
  it("hands out each register once, and says when there is none", () => {
    const pool = new RegisterPool("vector", [0, 1, 2]);
    expect(pool.take()).toBe(0);
    expect(pool.takeNamed(2)).toBe(2);
    expect(() => pool.takeNamed(2)).toThrow(RangeError);
    expect(() => pool.takeAll(2)).toThrow("2 vector registers are needed, and 1 are free");
    expect(pool.with(1, ([register]) => register)).toBe(1);
    pool.release(0, 2);
    expect(pool.available).toBe(3);
    expect(() => pool.release(0)).toThrow(RangeError);
    pool.takeAll(3);
    expect(() => pool.take()).toThrow("all 3 vector registers are in use");
  });
});
