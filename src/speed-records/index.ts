/** Speed of models on this machine, stored on disk: written by `inferyard bench --record`, read by the policy "fastest". */
export { type MeasuredMachine, measuredMachine } from "./machine.ts";
export { type Figures, type Measurement, type Unit, speedSettings } from "./measurement.ts";
export { readMeasurements, recordMeasurements } from "./store.ts";
