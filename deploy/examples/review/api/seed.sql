-- Rows for the tests: for each condition of the filter a row that it hides.
insert into document (account_id, title, archived) values
  (1, 'Roof', false), (1, 'Old roof', true), (2, 'Kitchen', false), (2, 'Old kitchen', true);
