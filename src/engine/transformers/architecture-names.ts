/**
 * The names of the architectures that `index.ts` builds, in a module without imports: listing a backend's capabilities must not load the engine. A test
 * compares both lists.
 */
const heads = ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"];

const encoders = [
  ...["Bert", "Roberta", "XLMRoberta", "Camembert", "DistilBert", "DebertaV2"].flatMap((family) =>
    heads.map((head) => family + head),
  ),
  ...heads.slice(0, -1).map((head) => `ModernBert${head}`),
  "NomicBertModel",
];

const decoders = ["Llama", "Mistral", "Qwen2", "Qwen3", "Gemma", "Gemma2", "Gemma3", "BitNet", "Phi3", "OPT"].flatMap(
  (family) => [family === "Gemma3" ? "Gemma3TextModel" : `${family}Model`, `${family}ForCausalLM`],
);

/** Class names of encoder-decoder models that the engine decodes with, from safetensors files. */
export const encoderDecoderNames: readonly string[] = [
  ...["T5", "MT5", "Bart", "MBart", "Pegasus", "M2M100", "Whisper"].map((family) => `${family}ForConditionalGeneration`),
  "MarianMTModel",
  "VisionEncoderDecoderModel",
];

/** Classes that read pictures, alone or beside texts. */
const vision = [
  "ViTModel",
  "ViTForImageClassification",
  "DeiTModel",
  "DeiTForImageClassification",
  "DeiTForImageClassificationWithTeacher",
  "CLIPModel",
  "CLIPTextModel",
  "CLIPTextModelWithProjection",
  "CLIPVisionModel",
  "CLIPVisionModelWithProjection",
  "SiglipModel",
];

/** Class names of Hugging Face transformers, as in `architectures` of config.json, that the engine builds from safetensors files. */
export const architectureNames: readonly string[] = [
  ...encoders,
  "GPT2Model",
  "GPT2LMHeadModel",
  ...decoders,
  "T5EncoderModel",
  "MT5EncoderModel",
  ...vision,
];
