# A formula for Homebrew. Not tested: see packaging/README.md. Use it from a checkout:
#   make dist && brew install --build-from-source packaging/homebrew/moreau.rb
class Moreau < Formula
  desc "Rigid bodies with contact and friction, and fair comparison of the methods"
  license "MIT"
  url "file://#{Dir.pwd}/moreau-0.2.0.tar.gz"
  version "0.2.0"
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkg-config" => :build
  depends_on "cairo"
  depends_on "hdf5"
  depends_on "libwebsockets"
  depends_on "libyaml"
  depends_on "nlopt"
  depends_on "qhull"
  depends_on "suite-sparse"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DMOREAU_TESTS=OFF", "-DMOREAU_EXAMPLES=OFF",
           "-DMOREAU_STATIC_COMMAND=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"moreau", "run", "sphere_drop", "--quiet"
  end
end
