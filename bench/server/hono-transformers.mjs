// The plain way: transformers.js behind a Hono handler, each request one call. Started by run.mjs; prints its address.
import { basename, dirname } from "node:path";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { cores } from "../measuring/machine.mjs";
import { pipeline, readModelsFrom } from "../peers/transformers-js.mjs";
import { miniLm } from "../measuring/shared-data.mjs";

const types = { fp32: "fp32", int8: "q8" };

readModelsFrom(dirname(miniLm));
const extractor = await pipeline("feature-extraction", basename(miniLm), {
  dtype: types[process.argv[2]],
  session_options: { intraOpNumThreads: cores },
});
const app = new Hono();
app.post("/embed", async (context) => {
  const { input } = await context.req.json();
  const vectors = await extractor(input, { pooling: "mean", normalize: true });
  return context.json({ embeddings: vectors.tolist() });
});
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => console.log(`http://127.0.0.1:${port}`));
