/** The pane with code that sends the operation in the editor, as the role that the user views as. Not here: the code (code.js). */
import { useState } from 'react';
import { LANGUAGES } from './code.js';
import { CopyButton } from './copy-button.jsx';
import { useEditorContents } from './editor.js';
import { PaneIcon } from './pane-icon.jsx';
import { Scrolling } from './scrolling.jsx';

export const CODE_PANE = {
  title: 'Code',
  icon: Icon,
  content: Pane,
};

function Icon() {
  return <PaneIcon path="m8 7-5 5 5 5M16 7l5 5-5 5M13.5 5l-3 14" />;
}

function Pane() {
  const { operation, headers } = useEditorContents();
  const [language, setLanguage] = useState('curl');
  const url = new URL('../v1/graphql', location.href).href;
  const text = headers ? LANGUAGES[language]({ url, headers, operation }) : '';
  return (
    <div className="pane">
      <h2>Code</h2>
      <div className="controls">
        <label>
          Language
          <select value={language} onChange={(event) => setLanguage(event.target.value)}>
            {Object.keys(LANGUAGES).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <CopyButton text={text} />
      </div>
      <Scrolling label="Code" text={text || 'The headers are no JSON.'} />
      <p className="faint">Secrets are environment variables, and not in the code.</p>
    </div>
  );
}
