/** Setting names of other runtimes, with the corresponding setting of this package. */

/** Remedies by the foreign name in camel case: settings of Termite, and settings that are not offered because measurements showed no benefit. */
const foreignNames: Readonly<Record<string, string>> = {
  backendPriority: "set priority, a list of backends or targets; for Termite's go write native",
  gpuMode: "set gpu",
  maxMemoryMb: 'set maxMemory, with its unit: "16384MB"',
  modelsDir: "name a model by the path of its folder; models that are fetched are kept in the folder of INFERYARD_HOME",
  modelStrategies: "set the strategy of each model in server.models",
  poolSize: "set replicas",
  sessionBuckets:
    "xla pads inputs to the sizes of xla.buckets; sessions of onnx for each size made nothing faster and took twice to six times the memory (docs/guide/tuning.md): leave it out",
  bucketGranularity: "xla pads inputs to the sizes of xla.buckets: list multiples of the granularity there",
  bucketDimGranularity: "xla pads inputs to the sizes of xla.buckets: list multiples of the granularity there",
  bucketMaxDims: "xla pads the dimensions batch and sequence alone, to the sizes of xla.buckets: leave it out",
  concurrencyHint: "replicas are loaded for the work that is there: set replicas to the number wanted",
};

/**
 * The remedy for a setting name of another runtime, in snake case or camel case (`backend_priority`, `backendPriority`). Undefined if the name is not
 * known.
 */
export function foreignName(name: string): string | undefined {
  const camelCase =
    name.toLowerCase() === name ? name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()) : name;
  return Object.hasOwn(foreignNames, camelCase) ? foreignNames[camelCase] : undefined;
}
