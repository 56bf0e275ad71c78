/** Public types and functions of the tasks, re-exported by the entry points for Node.js and browsers. */
export type { QuestionAnswer, Answers } from "./question-answering/answer.ts";
export type { AnswerOptions } from "./question-answering/generated-answer-options.ts";
export type { Chunk, ChunkedText } from "./text-threads/chunked-text.ts";
export type { ChunkOptions } from "./chunking/generated-chunk-options.ts";
export type { ChunkStrategy, LateStructure } from "./text-threads/chunked-text.ts";
export type { Separator } from "./text-threads/chunked-text.ts";
export type { ClassifyOptions } from "./classification/generated-classify-options.ts";
export type { EmbedOptions, QuantizedEmbedOptions } from "./embedding/embed-options.ts";
export { type EmbeddingRanges, embeddingRanges } from "./embedding/quantization-ranges.ts";
export type { QuantizedVectors, Scales } from "./embedding/quantize.ts";
export type { QuantizedPrecision } from "./embedding/precisions.ts";
export type { SparseEmbedding, SparseEmbeddings } from "./sparse-embedding/sparse-vectors.ts";
export type { EmbedSparseOptions } from "./sparse-embedding/generated-embed-sparse-options.ts";
export type { EmbeddingForm } from "./embedding/output-options.ts";
export type { EmbedOutputsOptions } from "./embedding/output-options.ts";
export type { EmbeddingOutputs } from "./sparse-embedding/embed-outputs.ts";
export type { Embeddings } from "./embedding/embeddings.ts";
export type { TextPair } from "./encoding/encode-pairs.ts";
export type { Aggregation, Entities, Entity } from "./token-classification/entities.ts";
export type { EntityField, ExtractSchema, QuestionField } from "./extraction/extract-schema.ts";
export type { ExtractedFields, ExtractedValue } from "./extraction/extract.ts";
export type { ExtractOptions } from "./extraction/generated-extract-options.ts";
export type { FillTarget, MaskFill, MaskFills } from "./fill-mask/fill-mask.ts";
export type { FillMaskOptions } from "./fill-mask/generated-fill-mask-options.ts";
export type { HuggingFaceEntity, HuggingFaceFill } from "./hugging-face-results.ts";
export type { HeadActivation, Classifications, LabelScore } from "./encoding/label-head.ts";
export { type TokenVectors, maxSim } from "./embedding/max-sim.ts";
export type { ReadPageOptions } from "./reading/read-options.ts";
export type { ReadLine, ReadPage } from "./reading/read-page.ts";
export type { ReadWord } from "./reading/word-boxes.ts";
export type { RecognizeOptions } from "./token-classification/generated-recognize-options.ts";
export type { RankedDocument, Ranking } from "./reranking/cross-encoder.ts";
export type { RerankOptions } from "./reranking/generated-rerank-options.ts";
export type { Similarities } from "./similarity/similarity.ts";
export type { SimilarityOptions } from "./similarity/generated-similarity-options.ts";
export type { SimilarityMetric } from "./similarity/similarity-matrix.ts";
export type { GenerateOptions } from "./generation/generated-generate-options.ts";
export type {
  FinishEvent,
  FinishReason,
  GeneratedLogprob,
  GeneratedText,
  GenerationEvent,
  GenerationTimings,
  TextEvent,
} from "./generation/generated-text.ts";
export type { GenerationStream } from "./generation/generation-stream.ts";
export type { TokenLogprob } from "./generation/sampling/log-probabilities.ts";
export type { GenerationOptions } from "./generation/sampling/generated-generation-options.ts";
export type { Prompt } from "./generation/text/prompt-tokens.ts";
export type { ChatAnswerMessage, ChatAnswer, ChatEvent } from "./generation/chat/chat.ts";
export type { ChatOptions } from "./generation/chat/generated-chat-options.ts";
export type { ToolChoice } from "./generation/chat/constrained-answer.ts";
export type { TextConstraint } from "./generation/constraints/text-constraint.ts";
export type { ChatMessage, ChatRole, TextPart, Tool, ToolCall } from "./generation/chat/messages.ts";
export type { RewriteOptions } from "./generation/rewrite/generated-rewrite-options.ts";
export type { SequenceCounts } from "./generation/open-generator.ts";
export type { VisionOptions } from "./vision/vision-options.ts";
export type { ClassifyImageOptions } from "./vision/classify-image-options.ts";
export type { ImageClassifications } from "./vision/classify-image.ts";
export type { DetectObjectsOptions } from "./vision/detect-objects-options.ts";
export type { DetectedObject, DetectedObjects } from "./vision/detect-objects.ts";
export type { Box } from "./vision/boxes.ts";
export type { EmbedMediaOptions } from "./vision/embed-media-options.ts";
export type { MediaInput } from "./vision/embed-media.ts";
export type { ImageFeature, ImageFeatures, ImageFeaturesOptions } from "./vision/image-features.ts";
export type { ClassifySoundOptions } from "./speech/classification/classify-sound-options.ts";
export type { SoundClassifications } from "./speech/classification/classify-sound.ts";
export type { SpeechSegment, VoiceActivity } from "./speech/voice-activity/detect-speech.ts";
export type { VoiceActivityOptions } from "./speech/voice-activity/voice-activity-options.ts";
export type { MonoSound, SoundChunks, SoundInput, SpokenSound } from "./speech/sound-input.ts";
export type { TranscribeOptions, TranscriptionProgress } from "./speech/transcribe-options.ts";
export type { Transcript, TranscriptSegment, TranscriptWord } from "./speech/transcript.ts";
export type { SpeechTask } from "./speech/whisper/whisper-vocabulary.ts";
