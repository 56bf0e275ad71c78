/** The REST API of Inferyard itself, under /api: the shape of Termite's, and what only we have. */
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env, Routes } from "../../http/context.ts";
import { refuseInvalid } from "../../http/validation.ts";
import type { Service } from "../../serving/service.ts";
import { version } from "../../../version.ts";
import { addUnimplemented } from "../unimplemented.ts";
import { addChunk } from "./chunk.ts";
import { addClassify } from "./classify.ts";
import { addEmbed } from "./embed.ts";
import { errorBody, handleInferyardError } from "./errors.ts";
import { addExplain } from "./explain.ts";
import { addModels } from "./models.ts";
import { addRecognize } from "./recognize.ts";
import { addRerank } from "./rerank.ts";

const unimplemented = {
  "/api/rewrite": "Texts written anew",
  "/api/generate": "Texts that go on from a prompt",
  "/api/read": "The text of images",
  "/api/transcribe": "The text of speech",
};

export function inferyardRoutes(service: Service): Routes {
  const routes = new OpenAPIHono<Env>({ defaultHook: refuseInvalid });
  routes.onError(handleInferyardError);
  for (const add of [addEmbed, addClassify, addRerank, addRecognize, addChunk, addModels, addExplain]) add(routes, service);
  addUnimplemented(routes, unimplemented, errorBody);
  routes.get("/api/version", (context) => context.json({ version }));
  return routes;
}
