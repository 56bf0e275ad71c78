/** Checks that the decision in a receipt is consistent with itself, and with the target and library in the receipt. */
import { basename } from "node:path";
import { InferyardError } from "../contract/errors.ts";
import { digestOfFiles } from "../libraries/analysis/loaded-files.ts";
import type { Decision, Selected } from "../runtime/decision/decision.ts";
import { type Target, formatDevice, matches, parseTarget } from "../runtime/targets/target.ts";
import type { Receipt } from "./receipt.ts";

/** Tolerance in milliseconds between time stamps of one machine. */
const clockSlackMs = 1000;

/** Describes the contradictions of the decision, one sentence each. */
export function* disagreementsOfDecision(receipt: Receipt): Generator<string> {
  const { decision, computePath } = receipt;
  const { selected } = decision;
  if (selected === null) return;
  if (!decision.candidates.some(({ target }) => target === computePath.target))
    yield `the compute path names ${computePath.target}, which its decision did not consider`;
  yield* disagreementsOfCandidates(decision, selected);
  yield* disagreementsOfConstraints(decision, selected);
  yield* disagreementsOfTime(receipt);
  yield* disagreementsOfLibrary(receipt, selected);
}

/** Checks the candidates: exactly one is selected, and all candidates before it were refused or failed. */
function* disagreementsOfCandidates({ candidates }: Decision, { target, library }: Selected): Generator<string> {
  const index = candidates.findIndex(({ verdict }) => verdict === "selected");
  const chosen = candidates[index];
  if (chosen?.target !== target)
    return yield `its decision selected ${target}, and of its candidates ${chosen?.target ?? "none"} was selected`;
  const impossible = candidates.find(
    ({ verdict }, at) =>
      at !== index && (verdict === "selected" || verdict === "would-run" || (at < index && verdict === "not-tried")),
  );
  if (impossible !== undefined) yield `its decision selected ${target}, and says "${impossible.verdict}" of ${impossible.target}`;
  if (!chosen.reason.startsWith(`${library.name} ${library.version}`))
    yield `its decision selected ${target} for "${chosen.reason}", and names ${library.name} ${library.version}`;
}

/** Checks the selected target: it is a valid target name, matches the stated device, and satisfies the constraints. */
function* disagreementsOfConstraints({ constraints }: Decision, { target: text, device }: Selected): Generator<string> {
  try {
    const { backend, deviceType = "cpu", index = 0 } = parseTarget(text);
    const target: Target = { backend, device: { type: deviceType, index } };
    const fits = (pattern: string): boolean => matches(parseTarget(pattern), target);
    const missed = constraints.required.find((alternatives) => !alternatives.split(" or ").some(fits));
    const excluded = constraints.excluded.find(fits);
    constraints.preferred.forEach(fits);
    if (formatDevice(target.device) !== device) yield `its decision selected ${text} on ${device}`;
    if (missed !== undefined) yield `its decision selected ${text}, and ${missed} was required`;
    if (excluded !== undefined) yield `its decision selected ${text}, and ${excluded} was excluded`;
  } catch (error) {
    if (!(error instanceof InferyardError)) throw error;
    yield `its decision names a target that is none: ${error.message}`;
  }
}

/** Checks the time of the decision. It may be earlier than the run, for a model that was already in memory, but not later than the load. */
function* disagreementsOfTime({ decision, startedAt, figures }: Receipt): Generator<string> {
  const after = Date.parse(decision.at) - Date.parse(startedAt);
  if (after < 0) return;
  const { loadMs } = figures;
  if (after > loadMs + clockSlackMs)
    return yield `its decision is of ${decision.at}, and loading began at ${startedAt} and took ${loadMs} ms`;
  const { milliseconds = 0 } = decision.candidates.find(({ verdict }) => verdict === "selected") ?? {};
  if (milliseconds > loadMs + clockSlackMs)
    yield `its decision says that loading took ${milliseconds} ms, and it claims ${loadMs} ms`;
}

function* disagreementsOfLibrary({ library, computePath }: Receipt, selected: Selected): Generator<string> {
  const { path, sha256, files, version } = library;
  if (JSON.stringify(selected.library.files) !== JSON.stringify(files))
    yield "its decision names other files of the library than the receipt";
  const [own] = files ?? [];
  const isNamed = computePath.target.startsWith("library:");
  if (isNamed && (path === undefined || sha256 === undefined || own === undefined))
    yield "it ran on a library of the user's own, and does not name its file and what that loads, with their digests";
  if (path !== undefined && own !== undefined && own.name !== basename(path))
    yield `the path of its library is ${path}, and the first of the library's files is ${own.name}`;
  if (sha256 !== undefined && own !== undefined && own.sha256 !== sha256)
    yield `its library has the sha256 ${sha256}, and the first of the library's files ${own.sha256}`;
  if (isNamed && files !== undefined && !version.endsWith(`sha256:${digestOfFiles(files).slice(0, 12)}`))
    yield `the version of its library is ${version}, and the digest of its files begins with ${digestOfFiles(files).slice(0, 12)}`;
  const stated = `${path ?? ""}, sha256 ${sha256 ?? ""}`;
  if (isNamed && !selected.evidence.some((sentence) => sentence.startsWith(stated)))
    yield `its decision has no evidence that ${stated} computed`;
}
