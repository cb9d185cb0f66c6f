/** The YAML language server on files, as an editor starts it, without a network: what it reports of each file, and the fields that it offers at a
 *  position. In, as arguments: a file and `line:character` for each, counted from 0. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { report } from './lib.mjs';

const SETTINGS = {
  yaml: {
    validate: true,
    completion: true,
    schemaStore: { enable: false },
    kubernetesCRDStore: { enable: false },
  },
};

const program = createRequire(import.meta.url).resolve('yaml-language-server/bin/yaml-language-server');
const server = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const connection = createMessageConnection(
  new StreamMessageReader(server.stdout),
  new StreamMessageWriter(server.stdin),
);

/** Opens a file, and returns what the server says about it. */
async function opened(file, position) {
  const uri = pathToFileURL(file).href;
  const text = readFileSync(file, 'utf8');
  const published = new Promise((resolve) => diagnosed.set(uri, resolve));
  await connection.sendNotification('textDocument/didOpen', {
    textDocument: { uri, languageId: 'yaml', version: 1, text },
  });
  const problems = (await published).map(({ range, message }) => `${range.start.line + 1}: ${message}`);
  const [line, character] = position.split(':').map(Number);
  const { items } = await connection.sendRequest('textDocument/completion', {
    textDocument: { uri },
    position: { line, character },
  });
  return { problems, offered: items.map(({ label }) => label) };
}

const diagnosed = new Map();

await report(async () => {
  connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }) =>
    diagnosed.get(uri)?.(diagnostics),
  );
  connection.onRequest('workspace/configuration', ({ items }) =>
    items.map(({ section }) => SETTINGS[section] ?? {}),
  );
  connection.onRequest('client/registerCapability', () => null);
  connection.listen();
  await connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: { workspace: { configuration: true } },
  });
  await connection.sendNotification('initialized', {});
  await connection.sendNotification('workspace/didChangeConfiguration', { settings: SETTINGS });
  const results = {};
  const words = process.argv.slice(2);
  for (let i = 0; i < words.length; i += 2) results[words[i]] = await opened(words[i], words[i + 1]);
  server.kill();
  return results;
});
