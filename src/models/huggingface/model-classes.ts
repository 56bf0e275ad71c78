/**
 * Which class of transformers a model is built as. config.json states how the weights were trained (`architectures`), and the kind of network
 * (`model_type`). transformers' AutoModel, and with it sentence-transformers, goes by the kind alone: what a model is used for decides whether the head that
 * it was trained with belongs to it.
 */
import { isJsonObject, type JsonObject } from "../model-folder.ts";
import { getArchitecture } from "./model-card.ts";

/** The classes of one `model_type`. */
interface ModelClasses {
  /** The class without a head, which `AutoModel` loads; for T5 the encoder alone, as sentence-transformers loads it. */
  readonly headless: string;
  /** Class that writes text. Absent for encoders. */
  readonly language?: string;
}

function decoders(...families: readonly string[]): Record<string, ModelClasses> {
  return Object.fromEntries(
    families.map((family) => [family.toLowerCase(), { headless: `${family}Model`, language: `${family}ForCausalLM` }]),
  );
}

/**
 * Classes by `model_type`. Kinds of networks that no engine builds from safetensors are left out; their class is the one of config.json.
 */
export const modelClasses: Readonly<Record<string, ModelClasses>> = {
  bert: { headless: "BertModel" },
  roberta: { headless: "RobertaModel" },
  "xlm-roberta": { headless: "XLMRobertaModel" },
  camembert: { headless: "CamembertModel" },
  distilbert: { headless: "DistilBertModel" },
  "deberta-v2": { headless: "DebertaV2Model" },
  modernbert: { headless: "ModernBertModel" },
  nomic_bert: { headless: "NomicBertModel" },
  ...decoders("OPT", "Llama", "Mistral", "Qwen2", "Qwen3", "Gemma", "Gemma2", "BitNet", "Phi3"),
  gpt2: { headless: "GPT2Model", language: "GPT2LMHeadModel" },
  gemma3_text: { headless: "Gemma3TextModel", language: "Gemma3ForCausalLM" },
  t5: { headless: "T5EncoderModel", language: "T5ForConditionalGeneration" },
  vit: { headless: "ViTModel" },
  deit: { headless: "DeiTModel" },
  clip: { headless: "CLIPModel" },
  siglip: { headless: "SiglipModel" },
  mt5: { headless: "MT5EncoderModel", language: "MT5ForConditionalGeneration" },
};

/** Class names that state how weights were trained and that no class of a task has: a masked language model with a second head, and ColBERT's own class. */
const trainingClasses: readonly (readonly [pattern: RegExp, head: string])[] = [
  [/ForPreTraining$/, "ForMaskedLM"],
  [/^HF_ColBERT$/, "Model"],
];

/**
 * The class to build for a config.json; undefined if nothing states it. `isEmbedder`: the model is used for its hidden states, so the class of its `model_type`
 * without a head, whatever head it was trained with.
 */
export function getModelClass(config: JsonObject, isEmbedder: boolean): string | undefined {
  const stated = getArchitecture(config);
  const classes = getClasses(config);
  if (classes === undefined) return stated;
  if (isEmbedder) return classes.headless;
  if (stated === undefined) return classes.language ?? classes.headless;
  const [, head] = trainingClasses.find(([pattern]) => pattern.test(stated)) ?? [];
  return head === undefined ? stated : classes.headless.replace(/Model$/, head);
}

/** The classes of the model of a config.json; undefined if no engine builds models of its `model_type`. */
function getClasses(config: JsonObject): ModelClasses | undefined {
  const { model_type: type, auto_map: code } = config;
  // Code of the model takes the place of the class, and only the engine knows which of it transformers has taken over since.
  if (isJsonObject(code) && "AutoModel" in code && type !== "nomic_bert") return undefined;
  return typeof type === "string" && Object.hasOwn(modelClasses, type) ? modelClasses[type] : undefined;
}
