"""Making a model as large as another: the solver behind `match=`."""
