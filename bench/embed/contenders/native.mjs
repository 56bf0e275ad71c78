// Inferyard's own engine: no setting but the model, its variant and the target.
import { createOn } from "./inferyard.mjs";

export const create = (precision) => createOn(precision, { target: "native:cpu" });
