/** The report on a model by target, which `verify`, `bench` and `tune` share. */
import { matches, parseDevice, parseTarget } from "../runtime/targets/target.ts";
import type { KindName } from "./kinds/index.ts";

/** What became of one target. */
export interface TargetReport<Figures> {
  /** For example "onnx:cpu". */
  readonly target: string;
  /** "pass": it held, or was measured. "fail": it runs the model, and not rightly. "skipped": it cannot run the model here. */
  readonly verdict: "pass" | "fail" | "skipped";
  /** Why it failed or was skipped. */
  readonly reason?: string;
  /** What was measured. */
  readonly figures?: Figures;
}

/** A model on the targets of this machine. */
export interface ModelReport<Figures> {
  /** The reference of the model. */
  readonly model: string;
  readonly kind: KindName;
  /** In the order in which selection tries them, those that cannot run the model last. */
  readonly targets: readonly TargetReport<Figures>[];
}

/**
 * The targets that were asked for and did not pass: those that failed, and those that the caller named (`named`) and that were skipped while none of the
 * same name passed. Without names, all where none passed.
 */
export function unmetTargets(
  { targets }: Pick<ModelReport<unknown>, "targets">,
  named: readonly string[] | undefined,
): readonly TargetReport<unknown>[] {
  const passed = targets.filter(({ verdict }) => verdict === "pass");
  const unmet = named?.filter((name) => !passed.some(({ target }) => isNamed(target, name)));
  return targets.filter(({ target, verdict }) => {
    if (verdict !== "skipped") return verdict === "fail";
    return unmet === undefined ? passed.length === 0 : unmet.some((name) => isNamed(target, name));
  });
}

/** Whether a target, "onnx:cpu", is one that a name, "onnx", stands for. */
export function isNamed(target: string, name: string): boolean {
  const [backend = "", ...device] = target.split(":");
  return matches(parseTarget(name), { backend, device: parseDevice(device.join(":")) ?? { type: "cpu", index: 0 } });
}
