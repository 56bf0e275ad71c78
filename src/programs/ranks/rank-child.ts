/** Program of the child process of one rank. */
import { becomeChild } from "../../hosts/process-child.ts";
import { standardProgramBackends } from "../backends/standard-program-backends.ts";
import type { RankMessage } from "./rank-messages.ts";
import { RankServer } from "./serve-rank.ts";

const server = new RankServer(standardProgramBackends(), becomeChild());
process.on("message", (message) => server.receive(message as RankMessage));
