/**
 * Runs machine code of random requests on buffers between unreadable pages. Arguments: seed, requests of each family, the number of the first one, the file in which the
 * current one is kept, for whoever sees this process die, and bytes that the first operand is too short, to see it die. Prints a line of JSON: the numbers of requests by
 * family and level, and problems.
 */
import { ftruncateSync, openSync, writeSync } from "node:fs";
import { type MachineCode, type MachineKernel, generateMachineKernels } from "../../../src/engine/codegen/x64/index.ts";
import type { CompiledKernel } from "../../../src/engine/codegen/wasm/kernel.ts";
import { type X64Level, blockLevels, levelRank, x64Levels } from "../../../src/kernels/simd-levels.ts";
import { openLevel } from "../machine-kernels.ts";
import { GuardedMemory } from "./guarded-memory.ts";
import { Random } from "./random.ts";
import { type GuardedRequest, randomRequests } from "./requests.ts";

/** Requests whose code is loaded together. */
const batchSize = 64;
const maxBuffers = 10;
const maxProblems = 20;
/** Bytes of random numbers: as float32 between -1 and 1, and as they come. */
const poolBytes = 8 * 2 ** 20;

const [seedText = "1", countText = "20", firstText = "0", progressPath = "/dev/null", missingText = "0"] = process.argv.slice(2);
const [seed, count, first] = [Number(seedText), Number(countText), Number(firstText)];
const missingBytes = Number(missingText);
const progress = openSync(progressPath, "w");

/** Families and the levels at which their code differs, in the order of their numbers. */
const jobs = Object.keys(randomRequests).flatMap((family) => {
  const levels: readonly X64Level[] = family === "block-matmul" ? blockLevels : x64Levels;
  const differs = (level: X64Level): boolean => level !== "AVX-512 VNNI" || /^(?:byte|block)-matmul$/.test(family);
  const different = levels.filter((level) => differs(level));
  return different.map((level) => ({ family, level, count: Math.ceil(count / different.length) }));
});

const memory = new GuardedMemory(maxBuffers);
const numbers = new Random(7);
const floats = Float32Array.from({ length: poolBytes / 4 }, () => numbers.next() * 2 - 1);
const bytes = Uint8Array.from({ length: poolBytes }, () => numbers.integer(0, 255));
const pools = [new Uint8Array(floats.buffer), bytes] as const;
const problems: string[] = [];
const counts: Record<string, number> = {};

let end = 0;
for (const { family, level, count: requestsOfJob } of jobs) {
  const start = Math.max(end, first);
  end += requestsOfJob;
  const opened = openLevel(level);
  if (typeof opened === "string") continue;
  for (let from = start; from < end && problems.length < maxProblems; from += batchSize) {
    const requests = Array.from({ length: Math.min(batchSize, end - from) }, (_, at) => requestOf(family, opened, from + at));
    const kernels = [...new Map(requests.map(({ code }) => [code.key, code])).values()];
    const functions = new Map(opened.install(kernels).map((each) => [each.key, opened.bind(each, memory)]));
    for (const [at, request] of requests.entries()) {
      const run = functions.get(request.kernel.key)!;
      const number = from + at;
      const name = `${family} at ${level}`;
      ftruncateSync(progress);
      writeSync(progress, `${number} ${name}, seed ${seed}, number ${number}: ${request.kernel.key}`, 0);
      counts[name] = (counts[name] ?? 0) + 1;
      const problem = findProblem(request, run, new Random(seed ^ (number * 31 + 17)));
      if (problem !== undefined) problems.push(`${name}, seed ${seed}, number ${number}: ${problem}: ${request.kernel.key}`);
    }
    opened.free();
  }
}
console.log(JSON.stringify({ counts, problems }));

/** The request with a number, and its code. Where WebAssembly computes it, the next one of the same random numbers is taken. */
function requestOf(family: string, machineCode: MachineCode, number: number): GuardedRequest & { readonly code: MachineKernel } {
  const { level } = machineCode;
  const random = new Random((seed * 0x9e3779b1) ^ (number * 0x85ebca6b) ^ levelRank(level));
  for (;;) {
    const request = randomRequests[family]!(random, level);
    const [code] = generateMachineKernels([request.kernel], machineCode);
    if (code !== undefined) return { ...request, code };
  }
}

/** Runs a kernel in one call and in several, and says what is wrong with what it did. */
function findProblem({ kernel, operands, outputs }: GuardedRequest, run: CompiledKernel, random: Random): string | undefined {
  const isFloat = !/^(?:byte|block)-matmul$/.test(kernel.family) && random.next() < 0.9;
  const sizes = kernel.parameters.map((name) => (name === "scratch" ? kernel.scratchBytes : operands[name]!));
  sizes[0] = sizes[0]! - missingBytes;
  const buffers = sizes.map((size, index) => memory.place(index, size, random.next() < 0.7 ? "end" : "start"));
  const sources = buffers.map(({ bytes: target }, index) => {
    const name = kernel.parameters[index]!;
    if (name === "scratch" || outputs.includes(name)) return undefined;
    const from = 4 * random.integer(0, (poolBytes - target.length) / 4 - 1);
    const source = pools[isFloat || /scale|bias|residual/i.test(name) ? 0 : 1].subarray(from, from + target.length);
    target.set(source);
    return source;
  });
  const offsets = buffers.map(({ offset }) => offset);
  const results = [1, random.integer(2, 4)].map((calls) => {
    const share = Math.max(1, Math.ceil(kernel.pieces / calls));
    for (const [index, buffer] of buffers.entries()) if (sources[index] === undefined) buffer.region.fill(0xff);
    for (let from = (calls - 1) * share; from >= 0; from -= share)
      if (from < kernel.pieces) run(...kernel.dynamicSizes, ...offsets, from, Math.min(from + share, kernel.pieces));
    return buffers.map(({ bytes: written }, index) => (outputs.includes(kernel.parameters[index]!) ? written.slice() : written));
  });
  for (const [index, name] of kernel.parameters.entries()) {
    const source = sources[index];
    if (source !== undefined && Buffer.compare(source, buffers[index]!.bytes) !== 0) return `writes its input ${name}`;
    if (!memory.isUntouched(buffers[index]!)) return `writes beside ${name}`;
    if (Buffer.compare(results[0]![index]!, results[1]![index]!) !== 0) return `gives other bits of ${name} in several calls`;
  }
  return undefined;
}
