/**
 * The modules of sentence-transformers that transform a vector (modules.json): `Dense`, `LayerNorm`, `Normalize` between them, `SparseAutoEncoder`, and the
 * factors of `SparseStaticEmbedding`. Sums are accumulated in double precision.
 */
import { InferyardError } from "../../contract/errors.ts";
import type { DenseActivation, ModuleWeights, VectorModule } from "../../models/manifest.ts";
import { readSafetensorsHeader, readSafetensorsTensor } from "../../formats/safetensors/read-safetensors.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import { normalizeRows } from "./pooling.ts";

/** The post-pooling modules of a model, composed. A final `Normalize` is not among them: it depends on the option `normalize`. */
export interface PostPooling {
  /** Length of the output vector; undefined if it equals the length of the input. */
  readonly dimensions: number | undefined;
  /** Returns a new vector. Throws MODEL_INVALID if the input has another length than the first module takes. */
  apply(vector: Float32Array): Float32Array;
}

type Step = (vector: Float32Array) => Float32Array;

/** Reads the weights of post-pooling modules from their safetensors files and composes them in order. */
export async function loadPostPooling(modules: readonly VectorModule[]): Promise<PostPooling> {
  const steps: Step[] = [];
  for (const module of modules) steps.push(await loadStep(module));
  const sizes = modules.map((module) => getSizes(module)).filter((size) => size !== undefined);
  const [takes, gives] = [sizes[0]?.[0], sizes.at(-1)?.[1]];
  return {
    dimensions: gives,
    apply(vector) {
      if (takes !== undefined && vector.length !== takes) {
        throw new InferyardError(
          "MODEL_INVALID",
          `the model gives vectors of ${vector.length} numbers, and its modules.json goes on with a module for ${takes}`,
          { remedy: "download the whole folder of the model again" },
        );
      }
      return steps.reduce<Float32Array>((current, step) => step(current), vector.slice());
    },
  };
}

/** Input and output length of a module; undefined if it takes any. */
function getSizes(module: VectorModule): readonly [number, number] | undefined {
  if (module.kind === "dense" || module.kind === "auto-encoder") return [module.inFeatures, module.outFeatures];
  return module.kind === "normalize" ? undefined : [module.features, module.features];
}

async function loadStep(module: VectorModule): Promise<Step> {
  if (module.kind === "normalize") return normalizeRows;
  const values = await getTensors(module.weights);
  if (module.kind === "layer-norm") return layerNorm(await values("norm.weight"), await values("norm.bias"));
  if (module.kind === "scale") return scale(await values("weight"));
  if (module.kind === "auto-encoder") {
    const encode = linear(await values(module.encoder), await values("latent_bias"));
    return autoEncoder(encode, await values("pre_bias"), module);
  }
  const { prefix = "linear.", residual, outFeatures } = module;
  const bias = module.bias ? await values(`${prefix}bias`) : new Float32Array(outFeatures);
  const compute = activated(linear(await values(`${prefix}weight`), bias), activations[module.activation]);
  if (residual === undefined) return compute;
  const other = residual === "linear" ? linear(await values("residual.weight"), new Float32Array(outFeatures)) : undefined;
  return (vector) => {
    const added = other?.(vector) ?? vector;
    return compute(vector).map((value, index) => value + (added[index] ?? 0));
  };
}

/** A function that reads a tensor of the file by its name. */
async function getTensors({ path, displayName, format }: ModuleWeights): Promise<(name: string) => Promise<Float32Array>> {
  if (format === "gguf") {
    const { readGgufTensor } = await import("../../formats/gguf/models/post-pooling.ts"); // few models have such layers
    return (name) => readGgufTensor(path, displayName, name);
  }
  const header = await readSafetensorsHeader(path);
  return async (name) => toFloat32(await readSafetensorsTensor(header, name));
}

/** torch.nn.Linear. `weight`: `[out, in]`, row-major. */
function linear(weight: Float32Array, bias: Float32Array): Step {
  return (vector) => {
    const result = new Float32Array(bias.length);
    for (let row = 0, start = 0; row < bias.length; row += 1, start += vector.length) {
      let sum = bias[row] ?? 0;
      for (let column = 0; column < vector.length; column += 1) sum += (weight[start + column] ?? 0) * (vector[column] ?? 0);
      result[row] = sum;
    }
    return result;
  };
}

function activated(compute: Step, activation: (value: number) => number): Step {
  return (vector) => compute(vector).map(activation);
}

function scale(factors: Float32Array): Step {
  return (vector) => vector.map((value, index) => value * (factors[index] ?? 0));
}

/** SparseAutoEncoder of sentence-transformers (CSR, Wen et al. 2025): the largest `kept` latents, at least 0; the others are 0. */
function autoEncoder(encode: Step, preBias: Float32Array, { kept, standardize }: AutoEncoder): Step {
  return (vector) => {
    const latents = encode((standardize ? standardized(vector) : vector).map((value, index) => value - (preBias[index] ?? 0)));
    const largest = Array.from(latents.keys()).sort((a, b) => (latents[b] ?? 0) - (latents[a] ?? 0));
    const result = new Float32Array(latents.length);
    for (const index of largest.slice(0, kept)) result[index] = Math.max(0, latents[index] ?? 0);
    return result;
  };
}

type AutoEncoder = Extract<VectorModule, { readonly kind: "auto-encoder" }>;

/** Mean 0 and standard deviation 1, with the sample's deviation (n - 1) as torch's `std` has it. */
function standardized(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value;
  const mean = sum / vector.length;
  let squares = 0;
  for (const value of vector) squares += (value - mean) ** 2;
  const deviation = Math.sqrt(squares / (vector.length - 1)) + epsilon;
  return vector.map((value) => (value - mean) / deviation);
}

/** Default of torch.nn.LayerNorm, and the constant of SparseAutoEncoder. */
const epsilon = 1e-5;

function layerNorm(weight: Float32Array, bias: Float32Array): Step {
  return (vector) => {
    let sum = 0;
    for (const value of vector) sum += value;
    const mean = sum / vector.length;
    let squares = 0;
    for (const value of vector) squares += (value - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / vector.length + epsilon);
    return vector.map((value, index) => (value - mean) * scale * (weight[index] ?? 0) + (bias[index] ?? 0));
  };
}

const activations: Readonly<Record<DenseActivation, (value: number) => number>> = {
  Identity: (value) => value,
  Tanh: Math.tanh,
  ReLU: (value) => Math.max(0, value),
  GELU: (value) => 0.5 * value * (1 + errorFunction(value * Math.SQRT1_2)),
  Sigmoid: (value) => 1 / (1 + Math.exp(-value)),
  SiLU: (value) => value / (1 + Math.exp(-value)),
};

/** erf by the series of positive terms DLMF 7.6.2, which has no cancellation. Beyond |6| it is ±1 in double precision. */
function errorFunction(value: number): number {
  if (Number.isNaN(value)) return value;
  if (Math.abs(value) > 6) return Math.sign(value);
  let term = value;
  let sum = value;
  for (let index = 1; Math.abs(term) > Math.abs(sum) * Number.EPSILON; index += 1) {
    term *= (2 * value * value) / (2 * index + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-value * value) * sum;
}
