/** All commands, in the order of the help text. */
import type { Command } from "commander";
import type { Terminal } from "./terminal.ts";
import { addAnswer } from "./commands/tasks/answer.ts";
import { addBackends } from "./commands/system/backends.ts";
import { addBench } from "./commands/measuring/bench.ts";
import { addCheck } from "./commands/store/check.ts";
import { addChunk } from "./commands/tasks/chunk.ts";
import { addClassify } from "./commands/tasks/classify.ts";
import { addCompletions } from "./commands/system/completions.ts";
import { addConfig } from "./commands/system/config.ts";
import { addDistill } from "./commands/models/distill.ts";
import { addDoctor } from "./commands/system/doctor.ts";
import { addEmbed } from "./commands/tasks/embed.ts";
import { addExplain } from "./commands/models/explain.ts";
import { addExtract } from "./commands/tasks/extract.ts";
import { addFillMask } from "./commands/tasks/fill-mask.ts";
import { addInspect } from "./commands/models/inspect.ts";
import { addList } from "./commands/store/list.ts";
import { addPack } from "./commands/models/pack.ts";
import { addPrune } from "./commands/store/prune.ts";
import { addPull } from "./commands/store/pull.ts";
import { addRecognize } from "./commands/tasks/recognize.ts";
import { addRemove } from "./commands/store/remove.ts";
import { addRerank } from "./commands/tasks/rerank.ts";
import { addRun } from "./commands/tasks/run.ts";
import { addServe } from "./commands/system/serve.ts";
import { addShow } from "./commands/models/show.ts";
import { addTasks } from "./commands/tasks/tasks.ts";
import { addSimilarity } from "./commands/tasks/similarity.ts";
import { addTokenize } from "./commands/tasks/tokenize.ts";
import { addTune } from "./commands/measuring/tune.ts";
import { addVerify } from "./commands/measuring/verify.ts";
import { addVersion } from "./commands/system/version.ts";

/** All commands of the command line, in the order of the help text. Each function adds one command to the program. */
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
