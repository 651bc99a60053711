// SPDX-License-Identifier: Apache-2.0
//
// Opens files with Netron's own parser, without a browser, and prints for each
// one line of JSON: what the viewer would draw, or the error it would show.
//
//   node open.mjs NETRON_FOLDER FILE...
//
// NETRON_FOLDER is the folder of the Python package netron, which holds the
// viewer's JavaScript, with a package.json saying {"type": "module"} in it.
// Every constant is read, so that one that points outside the file is found.

import * as fs from 'fs';
import * as path from 'path';
import { pathToFileURL } from 'url';

const [folder, ...files] = process.argv.slice(2);
if (!folder || files.length === 0) {
    console.error('usage: node open.mjs NETRON_FOLDER FILE...');
    process.exit(2);
}
const netron = (name) => import(pathToFileURL(path.resolve(folder, name)));
const base = await netron('base.js');
const view = await netron('view.js');

const errors = [];
const host = {
    environment: () => null,
    require: (id) => netron(`${id}.js`),
    asset: (name) => fs.promises.readFile(path.join(folder, name), 'utf-8'),
    exception: (error) => errors.push(error),
    event: () => {}
};

const open = async (file) => {
    const context = {
        identifier: path.basename(file),
        stream: new base.BinaryStream(new Uint8Array(await fs.promises.readFile(file))),
        entries: new Map(),
        request: (name) => Promise.reject(new Error(`'${name}' is not opened`)),
        asset: host.asset,
        require: host.require,
        error: host.exception
    };
    return new view.ModelFactoryService(host).open(context);
};

// Counts nodes by type, constants and their bytes; goes into delegates.
const describe = (graph, result) => {
    for (const node of graph.nodes) {
        const inner = Array.isArray(node.type.nodes);
        const bucket = inner ? result.delegates : result.nodes;
        const name = node.type.identifier || node.type.name;
        bucket[name] = (bucket[name] || 0) + 1;
        for (const argument of node.inputs) {
            constants(argument, result);
        }
        if (inner) {
            describe(node.type, result.inner);
        }
    }
};

const constants = (argument, result) => {
    if (!Array.isArray(argument.value)) {
        return;
    }
    for (const value of argument.value) {
        if (value && value.initializer) {
            result.constants++;
            const values = value.initializer.values;
            if (values) {
                result.constant_bytes += values.length;
            } else {
                result.external_constants++;
            }
        }
    }
};

const empty = () => ({ nodes: {}, delegates: {}, constants: 0, constant_bytes: 0, external_constants: 0 });

let failed = false;
for (const file of files) {
    try {
        errors.length = 0;
        const model = await open(file);
        if (!model) {
            throw errors[0] || new Error('no parser takes this file');
        }
        const graphs = model.modules.map((graph) => {
            const result = { name: graph.name, inputs: graph.inputs.length, outputs: graph.outputs.length,
                ...empty(), inner: empty() };
            describe(graph, result);
            return result;
        });
        console.log(JSON.stringify({ file, format: model.format, graphs }));
    } catch (error) {
        failed = true;
        console.log(JSON.stringify({ file, error: error.message }));
    }
}
process.exit(failed ? 1 : 0);
