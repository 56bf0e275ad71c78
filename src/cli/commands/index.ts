/** Every command, in the order of the help text. */
import type { Command } from "commander";
import type { Terminal } from "../terminal.ts";
import { addAnswer } from "./answer.ts";
import { addBackends } from "./backends.ts";
import { addBench } from "./bench.ts";
import { addCheck } from "./check.ts";
import { addChunk } from "./chunk.ts";
import { addClassify } from "./classify.ts";
import { addCompletions } from "./completions.ts";
import { addConfig } from "./config.ts";
import { addDistill } from "./distill.ts";
import { addDoctor } from "./doctor.ts";
import { addEmbed } from "./embed.ts";
import { addExplain } from "./explain.ts";
import { addExtract } from "./extract.ts";
import { addFillMask } from "./fill-mask.ts";
import { addInspect } from "./inspect.ts";
import { addList } from "./list.ts";
import { addPack } from "./pack.ts";
import { addPrune } from "./prune.ts";
import { addPull } from "./pull.ts";
import { addRecognize } from "./recognize.ts";
import { addRemove } from "./remove.ts";
import { addRerank } from "./rerank.ts";
import { addRun } from "./run.ts";
import { addServe } from "./serve.ts";
import { addShow } from "./show.ts";
import { addTasks } from "./tasks.ts";
import { addSimilarity } from "./similarity.ts";
import { addTokenize } from "./tokenize.ts";
import { addTune } from "./tune.ts";
import { addVerify } from "./verify.ts";
import { addVersion } from "./version.ts";

export const commands: readonly ((program: Command, terminal: Terminal) => void)[] = [
  addEmbed,
  addClassify,
  addRerank,
  addRecognize,
  addFillMask,
  addAnswer,
  addSimilarity,
  addExtract,
  addTokenize,
  addChunk,
  addRun,
  addTasks,
  addServe,
  addExplain,
  addInspect,
  addPull,
  addList,
  addShow,
  addRemove,
  addPrune,
  addCheck,
  addBackends,
  addDoctor,
  addVerify,
  addBench,
  addTune,
  addDistill,
  addPack,
  addConfig,
  addVersion,
  addCompletions,
];
