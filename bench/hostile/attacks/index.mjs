// All attacks, in the order in which they are made. An attack: its name, and what it does to a server; it says what came of it, and how many
// answers were wrong.
import { bodies } from "./bodies.mjs";
import { constraints } from "./constraints.mjs";
import { values } from "./fields.mjs";
import { graphs, hang, impatience } from "./graphs.mjs";
import { keepAlive } from "./keep-alive.mjs";
import { keywords } from "./keywords.mjs";
import { libraries } from "./libraries.mjs";
import { malformed } from "./malformed.mjs";
import { pipelining } from "./pipelining.mjs";
import { placement, priority, thrashing } from "./placement.mjs";
import { slow } from "./slow.mjs";
import { amplification, sockets } from "./sockets.mjs";
import { starvation } from "./starve.mjs";
import { conversations, templates } from "./templates.mjs";
import { tensors } from "./tensors.mjs";
import { texts, tokenizers } from "./texts.mjs";
import { tools } from "./tools.mjs";
import { uploads } from "./uploads.mjs";

export const attacks = [
  ...bodies,
  placement,
  texts,
  tokenizers,
  tensors,
  ...sockets,
  pipelining,
  amplification,
  priority,
  ...starvation,
  graphs,
  impatience,
  hang,
  ...constraints,
  ...keywords,
  ...tools,
  templates,
  conversations,
  keepAlive,
  libraries,
  ...slow,
  ...malformed,
  ...values,
  ...uploads,
  thrashing,
];
