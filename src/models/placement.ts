/** How a model is distributed over the devices of a machine. */

/**
 * The placements of a model that are more than one instance on one device. "pool": a replica on each device of the chosen kind; a run goes to the one with the least work. "round-robin": the same, and
 * runs go to the replicas in turn. "data-parallel": as "pool", and batches of one call are shared among the replicas. "pipeline" and "tensor-parallel": several processes compute one instance together,
 * each with a part of the weights.
 */
export const placements = ["pool", "round-robin", "data-parallel", "pipeline", "tensor-parallel"] as const;

/** See `placements`. */
export type ModelPlacement = (typeof placements)[number];

/** A placement that divides one instance. */
export type DividedPlacement = Extract<ModelPlacement, "pipeline" | "tensor-parallel">;

/** Whether several processes compute one instance of the model. */
export function isDivided(placement: ModelPlacement | undefined): placement is DividedPlacement {
  return placement === "pipeline" || placement === "tensor-parallel";
}
