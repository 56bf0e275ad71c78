/** `import()` for the first script of a single program, which may import modules of Node.js alone. */
"use strict";
module.exports = (id) => import(id);
