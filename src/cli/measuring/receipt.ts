/** Receipts and verdicts on them, for people. */
import type { Receipt, ReceiptVerification } from "../../receipts/index.ts";
import { colorize } from "../output/style.ts";
import { formatTable, printable } from "../output/table.ts";
import { formatBytes, formatMilliseconds, plural } from "../output/units.ts";
import type { Terminal } from "../terminal.ts";

/** Kernels that are listed by name. */
const maxKernels = 4;

/** A receipt as lines: what ran, with which kernels, how fast, and what the tests say. */
export function describeReceipt(receipt: Receipt): string {
  const { model, library, computePath, kernels, tests, determinism, figures, output, signature } = receipt;
  const { promptTokens, generatedTokens, timeToFirstTokenMs, prefillTokensPerSecond, decodeTokensPerSecond, peakMemory } =
    figures;
  const names = kernels.slice(0, maxKernels).map(({ id, calls }) => `${id} ${calls}`);
  const others = kernels.length > maxKernels ? [`${kernels.length - maxKernels} more`] : [];
  const failed = tests.filter(({ passed }) => !passed);
  const rows = [
    ["ran", `${model.name} · ${computePath.target} · ${library.name} ${library.version}`],
    ["compute path", `${computePath.kind}: ${computePath.fastCalls} calls of kernels, ${computePath.slowCalls} of others`],
    ["kernels", kernels.length === 0 ? "none: the engine does not count them" : [...names, ...others].join(", ")],
    [
      "tests",
      failed.length === 0 ? `${plural(tests.length, "test")} passed` : `failed: ${failed.map(({ name }) => name).join(", ")}`,
    ],
    ["deterministic", determinism.deterministic ? `yes, in ${plural(determinism.runs.length, "run")}` : "no"],
    [
      "tokens",
      `${promptTokens} of the prompt, ${generatedTokens} generated, the first after ${formatMilliseconds(timeToFirstTokenMs)}`,
    ],
    ["tokens/s", `prefill ${prefillTokensPerSecond.toFixed(1)}, decode ${decodeTokensPerSecond?.toFixed(1) ?? "not measured"}`],
    ["peak memory", `${formatBytes(peakMemory.bytes)} of the ${peakMemory.of}`],
    ["text", output.text === null ? "the model has no tokenizer" : JSON.stringify(printable(output.text, 120))],
    ["signed", signature === undefined ? "no" : `with the key ${signature.keyId}`],
  ];
  return formatTable(rows);
}

/** A verdict as lines: what holds, what was not checked, and every reason to refuse. */
export function describeVerification(
  path: string,
  { accepted, refusals, held, unchecked }: ReceiptVerification,
  terminal: Terminal,
): string {
  const verdict = accepted ? colorize(terminal, "good", "ACCEPTED") : colorize(terminal, "bad", "REFUSED");
  const rows = [
    ...refusals.map(({ code, reason }) => ["refused", code, reason]),
    ...held.map((sentence) => ["holds", "", sentence]),
    ...unchecked.map((sentence) => ["unchecked", "", sentence]),
  ];
  return [`${path}  ${verdict}`, ...(rows.length === 0 ? [] : [formatTable(rows)])].join("\n");
}
