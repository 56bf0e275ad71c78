/** Program of a process that holds a model. It gives memory back after a flood of requests, as the process of a server does. */
import { serveParent } from "../../hosts/process-child.ts";
import { startIdleCollection } from "../../platform/node/idle-collection.ts";
import { createTrimmer } from "./trim-heap.ts";

serveParent();
startIdleCollection(createTrimmer());
