/** Compares the outputs of one model on several targets, and says which of them are wrong. */
import { compareOutputs, type OutputDifference, getTolerance } from "./compare-outputs.ts";
import { formatError, type TargetCheck, type TestedTarget } from "./test-target.ts";

/**
 * All checks of each target, by target name: its own checks, and a check that it agrees with the other targets. Only targets with the same weights
 * are compared. The reference is a target that gives the known answers; otherwise, the result that most targets agree on. If no two targets agree,
 * the correct result is unknown, and all fail.
 */
export function compareTargets(tested: readonly TestedTarget[]): ReadonlyMap<string, readonly TargetCheck[]> {
  return new Map(
    [...getGroups(tested).values()].flatMap((group) => {
      const judged = excuseModel(group);
      return judged.map((each) => {
        const { unaffected, checks } = each;
        const own = unaffected === undefined ? checks : [...checks, unaffected];
        return [each.target, [...own, checkIn(judged, each)]] as const;
      });
    }),
  );
}

/**
 * Removes failures that the model causes: some graphs mix the rows of a batch. If at least two targets agree on the batched outputs, and for every
 * target they differ from the outputs one by one, the model depends on the batch, and no target fails.
 */
function excuseModel(group: readonly TestedTarget[]): readonly TestedTarget[] {
  const [first, ...others] = group;
  if (first === undefined || others.length === 0 || !group.every(({ unaffected }) => unaffected?.verdict === "fail"))
    return group;
  const isSame = others.every(
    (other) => compareOutputs(first.together ?? [], other.together ?? []).relativeError <= getTolerance(first.precision).targets,
  );
  if (!isSame) return group;
  return group.map((each): TestedTarget => {
    const { unaffected } = each;
    const detail = `${unaffected?.detail ?? ""}; all targets agree: the model itself mixes its inputs`;
    return { ...each, unaffected: unaffected && { ...unaffected, verdict: "skipped", detail } };
  });
}

function getGroups(tested: readonly TestedTarget[]): Map<string, TestedTarget[]> {
  const groups = new Map<string, TestedTarget[]>();
  for (const each of tested) groups.set(each.weights, [...(groups.get(each.weights) ?? []), each]);
  return groups;
}

const name = "agrees with other targets";

function checkIn(group: readonly TestedTarget[], tested: TestedTarget): TargetCheck {
  const candidates = group.filter(({ checks, unaffected }) => [...checks, unaffected].every((each) => each?.verdict !== "fail"));
  const others = candidates.filter(({ target }) => target !== tested.target);
  if (others.length === 0) return { name, verdict: "skipped", detail: "no other target ran these weights" };
  const reference = getReference(candidates);
  if (reference === undefined) {
    const [other = tested] = others;
    return { name, verdict: "fail", detail: `${describe(other, tested)}; nothing tells which of the two is right` };
  }
  if (reference === tested) {
    const nearest = others.find((other) => agrees(reference, other));
    return {
      name,
      verdict: "pass",
      detail: nearest === undefined ? "it holds known answers, and no other target agrees" : describe(nearest, tested),
    };
  }
  return { name, verdict: agrees(reference, tested) ? "pass" : "fail", detail: describe(reference, tested) };
}

/** The reference target that the others are compared with; undefined if no two targets agree and none gives the known answers. */
function getReference(candidates: readonly TestedTarget[]): TestedTarget | undefined {
  const known = candidates.find(({ hasAnswers }) => hasAnswers);
  if (known !== undefined) return known;
  const support = candidates.map((each) => candidates.filter((other) => other !== each && agrees(each, other)).length);
  const most = Math.max(...support);
  return most === 0 && candidates.length > 1 ? undefined : candidates[support.indexOf(most)];
}

function agrees(reference: TestedTarget, tested: TestedTarget): boolean {
  return computeDifference(reference, tested).relativeError <= getTolerance(tested.precision).targets;
}

function computeDifference(reference: TestedTarget, tested: TestedTarget): OutputDifference {
  return compareOutputs(reference.outputs, tested.outputs);
}

function describe(reference: TestedTarget, tested: TestedTarget): string {
  const { relativeError, cosine, output } = computeDifference(reference, tested);
  const tolerance = getTolerance(tested.precision).targets;
  const limit = relativeError <= tolerance ? "" : `, and the tolerance is ${tolerance}`;
  return `${reference.target}: largest relative error ${formatError(relativeError)}, cosine ${cosine.toFixed(6)}, in ${output}${limit}`;
}
