/** Inferyard's own REST API under /api, in the form of Termite's API. */
import type { Routes } from "../../http/context.ts";
import { createRoutes } from "../../http/routes.ts";
import type { Service } from "../../serving/service.ts";
import { addUnimplemented } from "../unimplemented.ts";
import { addAnswer } from "./answer.ts";
import { addChunk } from "./chunk.ts";
import { addClassify } from "./classify.ts";
import { addEmbed } from "./embed.ts";
import { addEmbedOutputs } from "./embed-outputs.ts";
import { errorBody, handleInferyardError } from "./errors.ts";
import { addExplain } from "./explain.ts";
import { addFillMask } from "./fill-mask.ts";
import { addModels } from "./models.ts";
import { addRecognize } from "./recognize.ts";
import { addRewrite } from "./rewrite.ts";
import { addReloadLibrary } from "./reload-library.ts";
import { addRerank } from "./rerank.ts";

const unimplemented = {
  "/api/read": "Read the text in images",
  "/api/transcribe": "Transcribe speech",
};

/** Creates the routes under /api. */
export function inferyardRoutes(service: Service): Routes {
  const routes = createRoutes(handleInferyardError, "strict");
  const tasks = [addEmbed, addEmbedOutputs, addClassify, addRerank, addRecognize, addFillMask, addAnswer, addChunk, addRewrite];
  for (const add of [...tasks, addModels, addExplain, addReloadLibrary]) add(routes, service);
  addUnimplemented(routes, unimplemented, errorBody);
  return routes;
}
