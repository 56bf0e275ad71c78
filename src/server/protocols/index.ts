/** The protocols that the server speaks. */
import { anthropic } from "./anthropic/index.ts";
import { cohere } from "./cohere/index.ts";
import { huggingFace } from "./huggingface/index.ts";
import { infinity } from "./infinity.ts";
import { inferyard } from "./inferyard/index.ts";
import { kserve } from "./kserve/index.ts";
import { llamaCpp } from "./llamacpp/index.ts";
import { lmStudio } from "./lm-studio.ts";
import { ollama } from "./ollama/index.ts";
import { openAi } from "./openai/index.ts";
import type { Protocol } from "./protocol.ts";
import { tei } from "./tei/index.ts";
import { tgi } from "./tgi.ts";
import { vllm } from "./vllm.ts";

/** In the order of the OpenAPI document. */
export const protocols: readonly Protocol[] = [
  ollama,
  lmStudio,
  inferyard,
  cohere,
  kserve,
  huggingFace,
  infinity,
  anthropic,
  openAi,
  llamaCpp,
  vllm,
  tgi,
  tei,
];
