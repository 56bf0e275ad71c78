/** The kernels of this machine as text. */
import type {
  FamilyCapability,
  KernelCapabilities,
  KernelCapability,
  KernelMachineReport,
  ProcessorPeaks,
} from "../../kernel-capabilities/index.ts";
import { formatTable, printable } from "../output/table.ts";

/** Columns that a reason may take. */
const maxColumns = 160;

/** A row for each kernel, then one for each family in machine code, then the closest format if the requested one has no kernel. */
export function formatKernels({ kernels, families, peaks, memoryGigabytesPerSecond, closest }: KernelCapabilities): string {
  const isMeasured = memoryGigabytesPerSecond !== undefined;
  const rows = kernels.map((kernel) => [
    kernel.id,
    kernel.formats === "any" ? "any" : kernel.formats.join(", "),
    kernel.level,
    kernel.here ? "yes" : "no",
    selfTestText(kernel),
    ...(isMeasured ? speedTexts(kernel) : []),
    printable(reasonText(kernel), maxColumns),
  ]);
  const titles = ["kernel", "format", "level", "here", "self-test", ...(isMeasured ? ["GB/s", "of memory"] : []), ""];
  const answers = Object.entries(closest).map(([format, answer]) => {
    const { unsupported, reason, bytes, askedBytes, error } = answer;
    const size = `${megabytes(bytes)} for a matrix of 4096 x 4096${askedBytes === undefined ? "" : ` instead of ${megabytes(askedBytes)}`}`;
    const cost =
      error === 0 ? "no error" : `an error of ${(100 * error).toFixed(2)} % (root mean square, of normally distributed weights)`;
    return `${format}: ${unsupported}\nclosest: ${answer.format}, since ${reason}; ${size}, ${cost}`;
  });
  const memory = isMeasured ? [`memory: ${memoryGigabytesPerSecond.toFixed(1)} GB/s read by one thread at best`] : [];
  const listed = families === undefined ? [] : [`\n${formatFamilies(families, peaks)}`];
  return [...(rows.length === 0 ? [] : [formatTable(rows, titles)]), ...memory, ...listed, ...answers].join("\n");
}

/** A row for each family of kernels in machine code, then the peaks that they were compared with. */
function formatFamilies(families: readonly FamilyCapability[], peaks: ProcessorPeaks | undefined): string {
  const rows = families.map(({ id, level, here, reason = "", selfTest, speed }) => [
    id,
    level,
    here ? "yes" : "no",
    selfTestText({ selfTest }),
    ...(peaks === undefined ? [] : [speed?.milliseconds.toFixed(3) ?? "-", getShare(speed)]),
    printable(selfTest?.passed === false ? `left to WebAssembly: ${selfTest.problem}` : (speed?.what ?? reason), maxColumns),
  ]);
  const titles = ["machine code", "level", "here", "self-test", ...(peaks === undefined ? [] : ["ms", "of roofline"]), ""];
  const best =
    peaks &&
    `peaks of one thread: ${peaks.floatGigaMultiplyAdds.toFixed(1)} giga multiply-adds of float32 each second, ${peaks.byteGigaMultiplyAdds.toFixed(1)} of int8; ${peaks.memoryGigabytesPerSecond.toFixed(1)} GB/s read from memory`;
  return [formatTable(rows, titles), ...(best === undefined ? [] : [best])].join("\n");
}

function getShare(speed: FamilyCapability["speed"]): string {
  return speed === undefined ? "-" : `${(100 * speed.ofRoofline).toFixed(0)} % (${speed.bound})`;
}

/** Formats two lines: the machine's SIMD levels with the best level, and its CUDA support. */
export function formatKernelMachine({ architecture, simd, best, cuda }: KernelMachineReport): string {
  const levels = simd.filter(({ here }) => here).map(({ level }) => level);
  const engines = cuda.engines.map(({ target, compiledIn, runs, reason }) => {
    const state = `${compiledIn ? "compiled in" : "not compiled in"}, ${runs ? "runs" : "does not run"}`;
    return `${target} ${state} (${printable(reason, maxColumns)})`;
  });
  return `${architecture}: ${levels.join(", ")}; best ${best}\nCUDA: ${engines.join("; ")}`;
}

function selfTestText({ selfTest }: { readonly selfTest?: KernelCapability["selfTest"] | undefined }): string {
  if (selfTest === undefined) return "-";
  return `${selfTest.passed ? "PASS" : "FAIL"} ${selfTest.milliseconds.toFixed(1)} ms`;
}

function speedTexts({ speed }: KernelCapability): readonly [string, string] {
  return speed === undefined ? ["-", "-"] : [speed.gigabytesPerSecond.toFixed(1), `${(100 * speed.ofMemory).toFixed(0)} %`];
}

function reasonText({ selfTest, reason = "" }: KernelCapability): string {
  return selfTest?.passed === false ? `excluded: ${selfTest.problem}` : reason;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
