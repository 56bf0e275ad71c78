/** Checks the consistency of a receipt: a field that is determined by other fields must have the determined value. */
import { knownFeatures } from "../devices/cpu/cpu-features.ts";
import { ggmlTypeNamed, isBitnetType } from "../formats/gguf/ggml-types.ts";
import { llamaKernelId } from "../kernels/kernel-ids.ts";
import { kernelById } from "../kernels/registry.ts";
import { toSha256 } from "../storage/sha256.ts";
import { minCosine, recordedRuns, testNames } from "./measured-run.ts";
import { disagreementsOfDecision } from "./check-decision.ts";
import type { Receipt } from "./receipt.ts";
import type { Refusal } from "./verification.ts";

/** Formats of the details that the tests of a receipt print. */
const printedCosine = /^cosine (-?\d\.\d{8}|NaN), (?:same|another) token$/;
const printedDifference = /^largest difference (\d[\d.]*(?:e[+-]\d+)?|Infinity|NaN)$/;

/** Refusals for fields that contradict other fields. */
export function* checkAgreement(receipt: Receipt): Generator<Refusal> {
  const checks = [
    disagreementsOfTests,
    disagreementsOfTokens,
    disagreementsOfModel,
    disagreementsOfCalls,
    disagreementsOfKernels,
    disagreementsOfDecision,
    disagreementsOfMachine,
  ];
  for (const check of checks) for (const reason of check(receipt)) yield { code: "contradiction", reason };
}

/** Checks the tests of a receipt: all tests are present in the fixed order, and their details match the verdict and the number of tokens. */
function* disagreementsOfTests({ tests, determinism, output }: Receipt): Generator<string> {
  const names = tests.map(({ name }) => name);
  if (names.join("\n") !== testNames.join("\n")) {
    const missing = testNames.filter((name) => !names.includes(name)).map((name) => `"${name}"`);
    const said = missing.length === 0 ? "has other tests" : `lacks the test ${missing.join(", ")}`;
    return yield `it ${said}, and every run makes ${testNames.length}, in this order: ${testNames.join("; ")}`;
  }
  const { length } = output.tokens;
  const expected: Readonly<Record<string, string>> = {
    "finite logits": `${determinism.runs.length * length} positions`,
    "measured run gives the same tokens": `${length} tokens`,
  };
  for (const { name, passed, detail } of tests) {
    const exact = expected[name];
    const disagrees = `its test "${name}" ${passed ? "passed" : "failed"} with "${detail}"`;
    if (exact === undefined && !isVerdictOf(passed, detail)) yield `${disagrees}, which is no detail of such a test`;
    if (exact !== undefined && passed && detail !== exact) yield `${disagrees}, and its tokens make "${exact}"`;
  }
}

/** Whether a test with this verdict can print this detail. */
function isVerdictOf(passed: boolean, detail: string): boolean {
  const [, cosine] = printedCosine.exec(detail) ?? [];
  if (cosine !== undefined) return passed ? Number(cosine) >= minCosine : !(Number(cosine) > minCosine);
  const [, difference] = printedDifference.exec(detail) ?? [];
  return difference !== undefined && Number(difference) > 0 === passed;
}

/** Checks that the digests of the runs match the generated tokens, and that the output of a text prompt includes its text. */
function* disagreementsOfTokens({ tests, determinism, input, output, figures }: Receipt): Generator<string> {
  if (determinism.runs.length !== recordedRuns)
    yield `it has ${determinism.runs.length} runs, and every receipt has ${recordedRuns}`;
  const digest = toSha256(JSON.stringify(output.tokens));
  const isSame = tests.some(({ name, passed }) => name === testNames[1] && passed);
  const [first] = determinism.runs;
  if (isSame && first !== undefined && first.tokensSha256 !== digest)
    yield `its tokens have the sha256 ${digest}, and the run that gave the same tokens says ${first.tokensSha256}`;
  if (input.prompt !== null && output.text === null) yield "its prompt is a text, and its output has none";
  // The decoder of an encoder-decoder model starts with one token.
  if (figures.promptTokens !== input.tokens.length && figures.promptTokens !== 1)
    yield `it claims ${figures.promptTokens} tokens of the prompt, and its input has ${input.tokens.length}`;
}

function* disagreementsOfModel({ model, decision }: Receipt): Generator<string> {
  const { files, weightTypes, weightBytesPerToken } = model;
  const { digest, format } = decision.model;
  if (!files.some(({ sha256: each }) => digest === `sha256:${each}`))
    yield `its decision is of a model with the digest ${digest ?? "none"}, which none of its files has`;
  const names = weightTypes.map(({ type }) => type);
  if (!["gguf", "safetensors", "onnx"].includes(format))
    yield `its decision is of a model in ${format}, which is no format of models`;
  const unknown = format === "gguf" ? names.find((name) => ggmlTypeNamed(name) === undefined && !isBitnetType(name)) : undefined;
  if (unknown !== undefined) yield `its weights are ${unknown}, which is no type of GGUF`;
  if (new Set(names).size < names.length) yield "it lists a type of weights twice";
  if (weightTypes.some(({ bytes }, index) => bytes > (weightTypes[index - 1]?.bytes ?? Number.POSITIVE_INFINITY)))
    yield "its types of weights are not in the order of their bytes";
  const bytes = weightTypes.reduce((sum, each) => sum + each.bytes, 0);
  const held = files.reduce((sum, each) => sum + each.bytes, 0);
  if (bytes > held) yield `its weights have ${bytes} bytes, and its files ${held}`;
  if (format !== "onnx" && names.length === 0) yield `it lists no types of weights, which ${format} files tell`;
  if (weightBytesPerToken !== null && names.length > 0 && weightBytesPerToken > bytes)
    yield `each token needs ${weightBytesPerToken} bytes of weights, and all weights have ${bytes}`;
}

/**
 * Checks the number of calls of each kernel. The runs of a receipt call the model three times for each generated token, once for each token of the
 * prompt, and further for a batch and for another prompt.
 */
function* disagreementsOfCalls({ kernels, figures, computePath }: Receipt): Generator<string> {
  if (kernels.length === 0) return;
  const { promptTokens, generatedTokens } = figures;
  const calls = kernels.reduce((sum, each) => sum + each.calls, 0);
  const least = 3 * generatedTokens + promptTokens + 2;
  if (calls < least) return yield `its kernels were called ${calls} times, and its runs call the model ${least} times`;
  // llama.cpp counts as one kernel, which is called once for each batch of one or more tokens.
  const tokens = 7 * promptTokens + 3 * generatedTokens;
  const isWhole = /^(?:llamacpp|library):/.test(computePath.target);
  if (isWhole && calls > tokens) yield `llama.cpp was called ${calls} times, and its runs have ${tokens} tokens`;
}

/** Checks the kernel ids. llama.cpp is listed as one kernel per device; a kernel for quantized blocks must multiply a type of the model's weights. */
function* disagreementsOfKernels({ kernels, computePath, model, decision }: Receipt): Generator<string> {
  const [backend = "", type = "cpu"] = computePath.target.split(":");
  const isWhole = backend === "llamacpp" || backend === "library";
  const whole = llamaKernelId({ type, index: 0 });
  const types = model.weightTypes.map((each) => each.type);
  const isPacked = decision.model.packedFrom !== undefined || decision.model.format !== "gguf";
  for (const { id } of kernels) {
    const kernel = kernelById(id);
    if (isWhole && id !== whole) yield `it ran on ${computePath.target}, whose kernel is ${whole}, and lists ${id}`;
    if (backend !== "native") continue;
    if (id.startsWith("Llama_")) yield `it ran on ${computePath.target}, and lists ${id}, which is llama.cpp`;
    else if (kernel === undefined || kernel.formats === "any" || isPacked) continue;
    else if (!kernel.formats.some((format) => types.includes(format)))
      yield `it lists ${id} for weights in ${kernel.formats.join(" or ")}, and its model has ${types.join(", ")}`;
  }
}

function* disagreementsOfMachine({
  machine,
  figures,
  decision,
  library,
  inferyardVersion,
  computePath,
}: Receipt): Generator<string> {
  if (machine.quota > machine.cores) yield `its machine has ${machine.cores} cores, and a quota of ${machine.quota}`;
  const known = knownFeatures(machine.architecture);
  const foreign = machine.features.find((feature) => !known.includes(feature));
  if (foreign !== undefined) yield `its processor is ${machine.architecture}, and has ${foreign}, which such processors do not`;
  const isChild = decision.selected?.host === "process";
  if (decision.selected !== null && isChild !== (figures.peakMemory.of === "child process"))
    yield `its model was in the host "${decision.selected.host}", and its memory is that of the ${figures.peakMemory.of}`;
  const device = decision.selected?.device ?? "cpu";
  if (/^(?:native|wasm):/.test(computePath.target) && device !== "cpu")
    yield `it ran on ${computePath.target}, and that engine computes on the CPU`;
  const numbered = device.includes(":") ? device : `${device}:0`;
  if (device.startsWith("cuda") && !machine.accelerators.some((each) => each.device === numbered))
    yield `it ran on ${device}, and its machine has no such device`;
  if (computePath.target.startsWith("native:") && (library.name !== "inferyard" || library.version !== inferyardVersion))
    yield `it ran on the engine of Inferyard ${inferyardVersion}, and names ${library.name} ${library.version}`;
}
