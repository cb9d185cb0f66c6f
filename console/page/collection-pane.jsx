/** The pane that writes the operation in the editor as a resource, to be stored in Git. Not here: the resource (collection.js). */
import { useState } from 'react';
import { collectionResource } from './collection.js';
import { CopyButton } from './copy-button.jsx';
import { DownloadLink } from './download-link.jsx';
import { useEditorContents } from './editor.js';
import { onlyOperation, operationOf } from './operation.js';
import { PaneIcon } from './pane-icon.jsx';
import { Scrolling } from './scrolling.jsx';

export const COLLECTION_PANE = {
  title: 'Save',
  icon: Icon,
  content: Pane,
};

function Icon() {
  return <PaneIcon path="M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6" />;
}

function Pane() {
  const { operation } = useEditorContents();
  const [collection, setCollection] = useState('operations');
  const [given, setName] = useState('');
  const { question, kind, problem } = operationOf(operation);
  const name = given || question.operationName || 'Example';
  const text = kind ? collectionResource({ collection, name, query: onlyOperation(question) }) : '';
  return (
    <div className="pane">
      <h2>Save</h2>
      <p>
        As a resource: add it to the files of your API, or apply it with <code>kubectl apply</code> or{' '}
        <code>pergola apply</code>.
      </p>
      <div className="controls">
        <label>
          Collection
          <input
            value={collection}
            onChange={(event) => setCollection(event.target.value)}
            autoComplete="off"
          />
        </label>
        <label>
          Name of the query
          <input
            value={given}
            placeholder={name}
            onChange={(event) => setName(event.target.value)}
            autoComplete="off"
          />
        </label>
      </div>
      {kind ? (
        <>
          <div className="controls">
            <CopyButton text={text} />
            <DownloadLink file={`${collection || 'operations'}.yaml`} text={text} />
          </div>
          <Scrolling label="Resource" text={text} />
        </>
      ) : (
        <p className="problem" role="status">
          {problem ?? 'There is no operation in the editor.'}
        </p>
      )}
    </div>
  );
}
