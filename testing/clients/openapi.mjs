/** A validator and a linter on the two OpenAPI descriptions of the engine. */
import SwaggerParser from '@apidevtools/swagger-parser';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { headers, report, url } from './lib.mjs';

async function described(path) {
  const text = await (await fetch(url + path, { headers })).text();
  const valid = await SwaggerParser.validate(JSON.parse(text)).then(
    () => [],
    ({ message }) => [message],
  );
  const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off' } });
  const problems = await lintFromString({ source: text, absoluteRef: `${path.slice(1)}`, config });
  return { valid, problems: problems.map(({ ruleId, message }) => `${ruleId}: ${message}`) };
}

await report(async () => ({
  wire: await described('/api/swagger/json'),
  linted: await described('/api/openapi.json'),
}));
