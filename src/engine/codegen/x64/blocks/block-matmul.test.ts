import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { KernelMemory, features, randomFloats } from "../../../../../test/engine/kernel-memory.ts";
import { runsAll } from "../../../../../test/fixtures/slow.ts";
import { openMachineCode } from "../../../../backends/native/machine-code/machine-code.ts";
import { unpackedBlock } from "../../../../formats/gguf/blocks/block-format.ts";
import { blockFormats } from "../../../../formats/gguf/blocks/index.ts";
import { scaledBlockName, scaledBlocks } from "../../../../formats/scaled-blocks/block-formats.ts";
import { compileKernels, kernelFunction } from "../../wasm/index.ts";
import { activationRowBytes, blockLayout, packedBlockBytes } from "../../wasm/kernels/blocks/block-layout.ts";
import { type BlockMatmulRequest, blockMatmul } from "../../wasm/kernels/blocks/block-matmul.ts";
import { packBlocks } from "../../wasm/kernels/blocks/pack-blocks.ts";
import { quantizeActivationBytes } from "../../wasm/kernels/blocks/quantize-activation-bytes.ts";
import { quantizeActivations } from "../../wasm/kernels/blocks/quantize-activations.ts";
import { type X64Level, blockLevels } from "../../../../kernels/simd-levels.ts";
import { type MachineCode, generateMachineKernels, hasMachineBlockMatmul, withMachineCode } from "../index.ts";

const shapes = ([2, 4, 8] as const).flatMap((bits) =>
  [16, 64].flatMap((elements) => [false, true].map((hasMins) => ({ bits, elements, hasMins }))),
);
const formats = { ...blockFormats, ...Object.fromEntries(shapes.map((shape) => [scaledBlockName(shape), scaledBlocks(shape)])) };

const requests: readonly Omit<BlockMatmulRequest, "format">[] = [
  { m: 1, n: 8, k: 256 },
  { m: 1, n: 24, k: 1280, bias: true, residual: "before-activation" },
  { m: 3, n: 16, k: 512, bias: true },
  { m: 4, n: 8, k: 768 },
  { m: 10, n: 24, k: 256, residual: "after-activation" },
  { m: 30, n: 40, k: 512, bias: true },
];

describe.each(blockLevels)("products of quantized weights in machine code with %s", (level) => {
  let machineCode: MachineCode;
  let problem: string | undefined;
  beforeAll(async () => {
    if (process.platform !== "linux" || process.arch !== "x64") problem = "machine code is for linux x64";
    else {
      const { features, create } = openMachineCode!();
      machineCode = create();
      if (!features.includes(level)) problem = `this processor has no ${level}`;
    }
  });
  beforeEach(({ skip }) => skip(problem !== undefined, problem));

  const types = Object.keys(formats).map((type, index) => ({ type, index }));
  it.each(types)("$type: the bits of WebAssembly, in any division among threads", ({ type, index }) => {
    const first = index + blockLevels.indexOf(level);
    for (const request of runsAll ? requests : [0, 2].map((each) => requests[(first + each) % requests.length]!)) {
      const { wasm, machine } = products(type, request, level, machineCode);
      expect(machine, JSON.stringify(request)).toEqual(wasm);
    }
  });
});

it("leaves columns that fill no panel and activations to WebAssembly", () => {
  const format = formats["Q4_0"]!;
  expect(hasMachineBlockMatmul({ m: 1, n: 16, k: 256, format })).toBe(true);
  expect(hasMachineBlockMatmul({ m: 1, n: 12, k: 256, format })).toBe(false);
  expect(hasMachineBlockMatmul({ m: 1, n: 16, k: 256, format, activation: "silu" })).toBe(false);
});

/** The bits of a product by both. Blocks have random bytes, scales of NaN, infinity and denormal numbers among them. */
function products(
  type: string,
  shape: Omit<BlockMatmulRequest, "format">,
  level: X64Level,
  machineCode: MachineCode,
): { readonly wasm: Uint32Array; readonly machine: Uint32Array } {
  const format = formats[type]!;
  const { m, n, k } = shape;
  const request = { ...shape, format };
  const layout = blockLayout(format);
  const kernel = blockMatmul({ ...request, machineLevel: level });
  const machine = generateMachineKernels([kernel], machineCode);
  const memory = new KernelMemory(2 ** 20 + 2 * packedBlockBytes(layout, k, n) + 64 * k * m);
  const b = memory.room(Uint8Array, packedBlockBytes(layout, k, n));
  packBlocks(b.data, { format, k, n, bytes: anyBlocks(type, (n * k) / format.elements) });
  const a = memory.room(Uint8Array, m * activationRowBytes(layout, k));
  const quantize =
    layout.depth === 4
      ? quantizeActivationBytes({ rows: m, columns: k, elements: layout.superElements })
      : quantizeActivations({ rows: m, columns: k });
  memory.run(quantize, [memory.put(randomFloats(m * k, 1)).offset, a.offset]);
  const c = memory.room(Float32Array, m * n);
  const offsets: Readonly<Record<string, number>> = {
    a: a.offset,
    b: b.offset,
    c: c.offset,
    scratch: memory.room(Uint8Array, kernel.scratchBytes).offset,
    bias: memory.put(randomFloats(n, 2)).offset,
    residual: memory.put(randomFloats(m * n, 3)).offset,
  };
  const compiled = compileKernels([kernel], memory.memory, features);
  const results = [compiled, withMachineCode(compiled, machine, memory.memory, machineCode)].map(({ functions }) => {
    const run = kernelFunction(functions, kernel);
    const operands = [...kernel.dynamicSizes, ...kernel.parameters.map((name) => offsets[name]!)];
    c.data.fill(-1);
    for (let from = kernel.pieces - 1; from >= 0; from -= 2) run(...operands, Math.max(0, from - 1), from + 1);
    return Uint32Array.from(
      c.data,
      (value) => new Uint32Array(Float32Array.of(Number.isNaN(value) ? Number.NaN : value).buffer)[0]!,
    );
  });
  machineCode.free();
  return { wasm: results[0]!, machine: results[1]! };
}

/** Blocks with random bytes; those whose codes no file of the type has are replaced by others. */
function anyBlocks(type: string, count: number): Uint8Array {
  const format = formats[type]!;
  const bytes = Uint8Array.from({ length: format.bytes * count }, (_, index) => Math.imul(index + 11, 0x9e3779b1) >>> 24);
  const block = unpackedBlock(format);
  const last = format.smallestCode + 2 ** format.codeBits - 1;
  for (let index = 0; index < count; index += 1) {
    format.unpack(bytes, index * format.bytes, block);
    const isTernary = blockLayout(format).depth === 4;
    if (isTernary && block.codes.some((code) => code > 1 || code > last))
      bytes.fill(0x55, index * format.bytes, index * format.bytes + format.bytes - 2);
  }
  return bytes;
}
