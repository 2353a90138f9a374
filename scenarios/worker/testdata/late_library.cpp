// A library that images_test loads after the images were noted.
extern "C" int late_function() {
  return 1;
}
