/** Report on a model by target, as returned by verification, benchmark and tuning. */
import { matches, parseDevice, parseTarget } from "../runtime/targets/target.ts";
import type { KindName } from "./kinds/index.ts";

/** Result for one target. */
export interface TargetReport<Figures> {
  /** Name of the target, such as "onnx:cpu". */
  readonly target: string;
  /**
   * "pass": the target passed verification, or was measured. "fail": it runs the model incorrectly. "skipped": it cannot run the model on this
   * machine.
   */
  readonly verdict: "pass" | "fail" | "skipped";
  /** Why the target failed or was skipped. */
  readonly reason?: string;
  /** Measured figures. Absent if nothing was measured. */
  readonly figures?: Figures;
}

/** Results of a model on the targets of this machine. */
export interface ModelReport<Figures> {
  /** The reference of the model. */
  readonly model: string;
  readonly kind: KindName;
  /** Results by target, in the order in which selection tries the targets; targets that cannot run the model come last. */
  readonly targets: readonly TargetReport<Figures>[];
}

/**
 * Requested targets that did not pass: targets that failed, and skipped targets that match a name in `named` for which no target passed. Without
 * names, all targets if none passed.
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

/** Whether a target, such as "onnx:cpu", matches a name, such as "onnx". */
export function isNamed(target: string, name: string): boolean {
  const [backend = "", ...device] = target.split(":");
  return matches(parseTarget(name), { backend, device: parseDevice(device.join(":")) ?? { type: "cpu", index: 0 } });
}
