/** Checks the consistency of a receipt: a field that is determined by other fields must have the determined value. */
import { knownFeatures } from "../devices/cpu/cpu-features.ts";
import { ggmlTypeNamed, isBitnetType } from "../formats/gguf/ggml-types.ts";
import { llamaKernelId } from "../kernels/kernel-ids.ts";
import { kernelById } from "../kernels/registry.ts";
import { minCosine, recordedRuns, sha256, testNames } from "./measured-run.ts";
import { disagreementsOfDecision } from "./check-decision.ts";
import type { Receipt } from "./receipt.ts";
import type { Refusal } from "./verification.ts";

/** Formats of the details that the tests of a receipt print. */
const printedCosine = /^cosine (-?\d\.\d{8}|NaN), (?:same|another) token$/;
const printedDifference = /^largest difference (\d[\d.]*(?:e[+-]\d+)?|Infinity|NaN)$/;

/** Refusals for fields that contradict other fields. */
export function checkAgreement(receipt: Receipt): readonly Refusal[] {
  const problems = [
    ...disagreementsOfTests(receipt),
    ...disagreementsOfTokens(receipt),
    ...disagreementsOfModel(receipt),
    ...disagreementsOfCalls(receipt),
    ...disagreementsOfKernels(receipt),
    ...disagreementsOfDecision(receipt),
    ...disagreementsOfMachine(receipt),
  ];
  return problems.map((reason) => ({ code: "contradiction", reason }));
}

/** Checks the tests of a receipt: all tests are present in the fixed order, and their details match the verdict and the number of tokens. */
function disagreementsOfTests({ tests, determinism, output }: Receipt): readonly string[] {
  const names = tests.map(({ name }) => name);
  if (names.join("\n") !== testNames.join("\n")) {
    const missing = testNames.filter((name) => !names.includes(name)).map((name) => `"${name}"`);
    const said = missing.length === 0 ? "has other tests" : `lacks the test ${missing.join(", ")}`;
    return [`it ${said}, and every run makes ${testNames.length}, in this order: ${testNames.join("; ")}`];
  }
  const { length } = output.tokens;
  const expected: Readonly<Record<string, string>> = {
    "finite logits": `${determinism.runs.length * length} positions`,
    "measured run gives the same tokens": `${length} tokens`,
  };
  return tests.flatMap(({ name, passed, detail }) => {
    const exact = expected[name];
    const disagrees = `its test "${name}" ${passed ? "passed" : "failed"} with "${detail}"`;
    if (exact !== undefined) return !passed || detail === exact ? [] : [`${disagrees}, and its tokens make "${exact}"`];
    return isVerdictOf(passed, detail) ? [] : [`${disagrees}, which is no detail of such a test`];
  });
}

/** Whether a test with this verdict can print this detail. */
function isVerdictOf(passed: boolean, detail: string): boolean {
  const [, cosine] = printedCosine.exec(detail) ?? [];
  if (cosine !== undefined) return passed ? Number(cosine) >= minCosine : !(Number(cosine) > minCosine);
  const [, difference] = printedDifference.exec(detail) ?? [];
  return difference !== undefined && Number(difference) > 0 === passed;
}

/** Checks that the digests of the runs match the generated tokens, and that the output of a text prompt includes its text. */
function disagreementsOfTokens({ tests, determinism, input, output, figures }: Receipt): readonly string[] {
  const problems: string[] = [];
  if (determinism.runs.length !== recordedRuns)
    problems.push(`it has ${determinism.runs.length} runs, and every receipt has ${recordedRuns}`);
  const digest = sha256(JSON.stringify(output.tokens));
  const isSame = tests.some(({ name, passed }) => name === testNames[1] && passed);
  const [first] = determinism.runs;
  if (isSame && first !== undefined && first.tokensSha256 !== digest)
    problems.push(`its tokens have the sha256 ${digest}, and the run that gave the same tokens says ${first.tokensSha256}`);
  if (input.prompt !== null && output.text === null) problems.push("its prompt is a text, and its output has none");
  // The decoder of an encoder-decoder model starts with one token.
  if (figures.promptTokens !== input.tokens.length && figures.promptTokens !== 1)
    problems.push(`it claims ${figures.promptTokens} tokens of the prompt, and its input has ${input.tokens.length}`);
  return problems;
}

function disagreementsOfModel({ model, decision }: Receipt): readonly string[] {
  const { files, weightTypes, weightBytesPerToken } = model;
  const { digest, format } = decision.model;
  const problems: string[] = [];
  if (!files.some(({ sha256: each }) => digest === `sha256:${each}`))
    problems.push(`its decision is of a model with the digest ${digest ?? "none"}, which none of its files has`);
  const names = weightTypes.map(({ type }) => type);
  if (!["gguf", "safetensors", "onnx"].includes(format))
    problems.push(`its decision is of a model in ${format}, which is no format of models`);
  const unknown = format === "gguf" ? names.find((name) => ggmlTypeNamed(name) === undefined && !isBitnetType(name)) : undefined;
  if (unknown !== undefined) problems.push(`its weights are ${unknown}, which is no type of GGUF`);
  if (new Set(names).size < names.length) problems.push("it lists a type of weights twice");
  if (weightTypes.some(({ bytes }, index) => bytes > (weightTypes[index - 1]?.bytes ?? Number.POSITIVE_INFINITY)))
    problems.push("its types of weights are not in the order of their bytes");
  const bytes = weightTypes.reduce((sum, each) => sum + each.bytes, 0);
  const held = files.reduce((sum, each) => sum + each.bytes, 0);
  if (bytes > held) problems.push(`its weights have ${bytes} bytes, and its files ${held}`);
  if (format !== "onnx" && names.length === 0) problems.push(`it lists no types of weights, which ${format} files tell`);
  if (weightBytesPerToken !== null && names.length > 0 && weightBytesPerToken > bytes)
    problems.push(`each token needs ${weightBytesPerToken} bytes of weights, and all weights have ${bytes}`);
  return problems;
}

/**
 * Checks the number of calls of each kernel. The runs of a receipt call the model three times for each generated token, once for each token of the
 * prompt, and further for a batch and for another prompt.
 */
function disagreementsOfCalls({ kernels, figures, computePath }: Receipt): readonly string[] {
  if (kernels.length === 0) return [];
  const { promptTokens, generatedTokens } = figures;
  const calls = kernels.reduce((sum, each) => sum + each.calls, 0);
  const least = 3 * generatedTokens + promptTokens + 2;
  if (calls < least) return [`its kernels were called ${calls} times, and its runs call the model ${least} times`];
  // llama.cpp counts as one kernel, which is called once for each batch of one or more tokens.
  const tokens = 7 * promptTokens + 3 * generatedTokens;
  const isWhole = /^(?:llamacpp|library):/.test(computePath.target);
  return isWhole && calls > tokens ? [`llama.cpp was called ${calls} times, and its runs have ${tokens} tokens`] : [];
}

/** Checks the kernel ids. llama.cpp is listed as one kernel per device; a kernel for quantized blocks must multiply a type of the model's weights. */
function disagreementsOfKernels({ kernels, computePath, model, decision }: Receipt): readonly string[] {
  const [backend = "", type = "cpu"] = computePath.target.split(":");
  const isWhole = backend === "llamacpp" || backend === "library";
  const whole = llamaKernelId({ type, index: 0 });
  const types = model.weightTypes.map((each) => each.type);
  return kernels.flatMap(({ id }): readonly string[] => {
    if (isWhole) return id === whole ? [] : [`it ran on ${computePath.target}, whose kernel is ${whole}, and lists ${id}`];
    if (backend !== "native") return [];
    if (id.startsWith("Llama_")) return [`it ran on ${computePath.target}, and lists ${id}, which is llama.cpp`];
    const kernel = kernelById(id);
    if (kernel === undefined || kernel.formats === "any") return [];
    const isPacked = decision.model.packedFrom !== undefined || decision.model.format !== "gguf";
    if (isPacked || kernel.formats.some((format) => types.includes(format))) return [];
    return [`it lists ${id} for weights in ${kernel.formats.join(" or ")}, and its model has ${types.join(", ")}`];
  });
}

function disagreementsOfMachine({
  machine,
  figures,
  decision,
  library,
  inferyardVersion,
  computePath,
}: Receipt): readonly string[] {
  const problems: string[] = [];
  if (machine.quota > machine.cores) problems.push(`its machine has ${machine.cores} cores, and a quota of ${machine.quota}`);
  const known = knownFeatures(machine.architecture);
  const foreign = machine.features.find((feature) => !known.includes(feature));
  if (foreign !== undefined)
    problems.push(`its processor is ${machine.architecture}, and has ${foreign}, which such processors do not`);
  const isChild = decision.selected?.host === "process";
  if (decision.selected !== null && isChild !== (figures.peakMemory.of === "child process"))
    problems.push(
      `its model was in the host "${decision.selected.host}", and its memory is that of the ${figures.peakMemory.of}`,
    );
  const device = decision.selected?.device ?? "cpu";
  if (/^(?:native|wasm):/.test(computePath.target) && device !== "cpu")
    problems.push(`it ran on ${computePath.target}, and that engine computes on the CPU`);
  const numbered = device.includes(":") ? device : `${device}:0`;
  if (device.startsWith("cuda") && !machine.accelerators.some((each) => each.device === numbered))
    problems.push(`it ran on ${device}, and its machine has no such device`);
  if (computePath.target.startsWith("native:") && (library.name !== "inferyard" || library.version !== inferyardVersion))
    problems.push(`it ran on the engine of Inferyard ${inferyardVersion}, and names ${library.name} ${library.version}`);
  return problems;
}
